// SPDX-License-Identifier: Apache-2.0
#include "app/client_answers.hpp"

#include "app/workspace.hpp"

namespace accelopt::app {
namespace {

base::Result<std::string> mailbox_of(const std::filesystem::path& workspace, const std::string& name) {
  TRY_ASSIGN(const auto journal, open_workspace(workspace, journal::Access::read_only));
  TRY_ASSIGN(const journal::RunInfo run, journal->find_run(name));
  TRY_ASSIGN(const RunSettings settings, run_settings_from(run.settings));
  if (!settings.agents.mailbox.empty()) return settings.agents.mailbox;
  return base::fail(base::ErrorCode::invalid_argument,
                    "run " + run.id +
                        " asks nobody here: its roles are played by models or recipes; start one with "
                        "agents=\"client\"");
}

}  // namespace

void let_client_answer(AgentFlags& flags, const std::filesystem::path& workspace, const std::string& client) {
  flags.agents = "auto";
  flags.mailbox = (workspace / "questions" / new_run_id()).string();
  flags.model = client.empty() ? "client" : "client: " + client;
}

base::Result<std::vector<llm::MailboxQuestion>> questions_of_run(const std::filesystem::path& workspace,
                                                                 const std::string& run) {
  TRY_ASSIGN(const std::string mailbox, mailbox_of(workspace, run));
  return llm::open_questions(mailbox);
}

base::Result<void> answer_question_of_run(const std::filesystem::path& workspace, const std::string& run,
                                          const std::string& question, const std::string& text) {
  TRY_ASSIGN(const std::string mailbox, mailbox_of(workspace, run));
  return llm::answer_question(mailbox, question, text);
}

}  // namespace accelopt::app
