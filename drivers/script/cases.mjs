// Writes the inputs: count cases of this size, drawn from the seed. It runs on the old code alone.
import { writeFileSync } from "node:fs";

const [workload, seed, size, count, out] = process.argv.slice(2);
let state = BigInt(seed);
function random() {
  // SplitMix64
  state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
  let z = state;
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}
const cases = [];
for (let i = 0; i < Number(count); ++i) {
  // TODO: one input of this size as JSON, such as a list of arguments
  cases.push([{arguments}]);
}
writeFileSync(out, JSON.stringify(cases));
