// SPDX-License-Identifier: Apache-2.0

export interface Entry {
  key: string;
  value: number;
}

/** The values of each key, in the order in which they come; keys in the order of their first entry. */
export function grouped(entries: readonly Entry[]): Map<string, number[]> {
  return entries.reduce((groups, entry) => {
    const values = [...(groups.get(entry.key) ?? []), entry.value];
    return new Map([...groups, [entry.key, values]]);
  }, new Map<string, number[]>());
}
