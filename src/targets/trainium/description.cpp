// SPDX-License-Identifier: Apache-2.0
#include "targets/trainium/description.hpp"

#include "targets/trainium/chip.hpp"

namespace accelopt::targets::trainium {
namespace {

/// Descriptions begin with the chip's name; of others nothing is known, and trn1 is the usual one.
std::string sbuf_text(std::string_view device) {
  const Generation& chip = device.starts_with(kTrn2.name) ? kTrn2 : kTrn1;
  return std::to_string(chip.sbuf_bytes >> 10) + " KiB";
}

}  // namespace

const model::TargetDescription& description() {
  static const model::TargetDescription kDescription = [] {
    model::LanguageDescription nki;
    nki.language = model::Language("nki");
    nki.form = model::KernelForm::text;
    nki.title = "NKI";
    nki.standard = "neuronxcc.nki of SDK 2.25";
    nki.suffixes = {".py"};
    nki.prompts = "nki";
    nki.fence = "python";
    nki.header_fence = "c";
    nki.scratchpad = &sbuf_text;
    nki.cold_caches = "There are no caches: every call reads its inputs from HBM.";
    nki.warm_caches = nki.cold_caches;
    model::TargetDescription out;
    out.name = "trainium";
    out.languages = {nki};
    out.reference_suffixes = {".cpp", ".c"};
    out.device = "trn1:model";
    out.models = {"trn1:model", "trn2:model"};
    out.hardware = "neuron";
    out.devices = "trn1:model or trn2:model for a modelled Trainium, or neuron:N for Neuron core N";
    out.own_memory = true;
    out.large_cache = true;
    return out;
  }();
  return kDescription;
}

}  // namespace accelopt::targets::trainium
