// SPDX-License-Identifier: Apache-2.0
// A worker that measures on the toy target.
//   toy_worker [OPERATION NUMBER FILE]
// It dies when it is asked for OPERATION ("triage", "playoff", "confirm") for that time, unless FILE is there, which it
// makes.
#include <csignal>
#include <fstream>
#include <map>
#include <string>

#include "evaluation/local_evaluator.hpp"
#include "evaluation/requests.hpp"
#include "toy_target/toy_target.hpp"
#include "worker/serve.hpp"

namespace {

namespace evaluation = accelopt::evaluation;
namespace worker = accelopt::worker;

class MortalEvaluator final : public evaluation::Evaluator {
 public:
  MortalEvaluator(evaluation::Target& target, std::string operation, int number, std::string file)
      : evaluator_(evaluation::make_local_evaluator(target)),
        operation_(std::move(operation)),
        number_(number),
        file_(std::move(file)) {}

  accelopt::base::Outcome<evaluation::Reply> answer(const evaluation::Request& request, std::stop_token stop) override {
    if (to_string(evaluation::operation(request)) == operation_ && ++asked_ == number_ && !std::ifstream(file_)) {
      std::ofstream(file_) << operation_;
      std::raise(SIGKILL);
    }
    return evaluator_->answer(request, std::move(stop));
  }

 private:
  std::unique_ptr<evaluation::Evaluator> evaluator_;
  std::string operation_;
  int number_;
  std::string file_;
  int asked_ = 0;  ///< what is measured is asked for on one thread
};

}  // namespace

int main(int argc, char** argv) {
  const auto target = accelopt::toy::make_toy_target();
  const bool mortal = argc > 3;
  MortalEvaluator evaluator(*target, mortal ? argv[1] : "", mortal ? std::stoi(argv[2]) : 0, mortal ? argv[3] : "");
  worker::Hello hello;
  hello.target = "toy";
  hello.device = "toy";
  return worker::serve_evaluator(evaluator, {.target = target.get(), .hello = hello}, 0, 1) ? 0 : 1;
}
