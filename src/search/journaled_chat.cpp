// SPDX-License-Identifier: Apache-2.0
#include "search/journaled_chat.hpp"

#include "base/hash.hpp"

namespace accelopt::llm {

static void write_json(base::JsonText& out, const ChatReply& reply) {
  base::FieldText fields(out);
  fields.required("finish", static_cast<int>(reply.finish), "model", reply.model, "text", reply.text, "usage",
                  reply.usage);
  fields.end();
}

static void from_json(const base::Json& in, ChatReply& reply) {
  in.at("text").get_to(reply.text);
  reply.finish = static_cast<Finish>(in.at("finish").get<int>());
  in.at("model").get_to(reply.model);
  in.at("usage").get_to(reply.usage);
}

}  // namespace accelopt::llm

namespace accelopt::search {

template <>
inline constexpr bool kReadsBackEqual<llm::ChatReply> = true;

namespace {

class JournaledChat : public llm::ChatModel {
 public:
  JournaledChat(llm::ChatModel& model, Recorder& recorder) : model_(model), recorder_(recorder) {}

  base::Outcome<llm::ChatReply> chat(const llm::ChatRequest& request, std::stop_token stop) override {
    base::JsonText input;
    input.add_list(request.messages, [&input](const llm::Message& message) {
      input.add_all(static_cast<int>(message.speaker), message.text);
    });
    std::string text = input.take();
    const std::string hash = base::sha256_hex(text);
    return recorder_.once_hashed<llm::ChatReply>(
        {{}, model::step_name(model::StepKind::chat, request.label)}, hash,
        [&]() -> base::Outcome<llm::ChatReply> {
          TRY(recorder_.settle_own());
          return model_.chat(request, stop);
        },
        std::move(text));
  }

  [[nodiscard]] std::string name() const override { return model_.name(); }

 private:
  llm::ChatModel& model_;
  Recorder& recorder_;
};

}  // namespace

std::unique_ptr<llm::ChatModel> make_journaled_chat(llm::ChatModel& model, Recorder& recorder) {
  return std::make_unique<JournaledChat>(model, recorder);
}

}  // namespace accelopt::search
