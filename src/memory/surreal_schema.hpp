// SPDX-License-Identifier: Apache-2.0
// What the SurrealDB store writes into its database: the tables of the graph, and the statements that work on them.
// Every value is bound as a parameter; nothing is ever put into a statement's text.
#pragma once

#include <string_view>

namespace accelopt::memory::surreal {

/// Of the tables below; kept in the record accelopt_schema:current.
inline constexpr int kSchemaVersion = 1;

/// Gives the version record's "version", or none in a database without one.
extern const std::string_view kReadVersion;
/// Defines what is not there yet and sets the version record to $version, all or none. Takes in the records that other
/// tools wrote before.
extern const std::string_view kDefineSchema;

/// Inserts $rows (objects with "key", "fields") that are neither there nor forgotten; where $returns, forgotten ones
/// come back. Gives how many were new. Is run in a transaction.
extern const std::string_view kInsert;
/// Inserts $rows (objects with "key", "fields") into table solution where they are not there.
extern const std::string_view kPutSolutions;
/// The solutions with $keys that are there.
extern const std::string_view kReadSolutions;

/// The item with $key, or with $number (-1: none) as its key; then the counters.
extern const std::string_view kReadItem;
/// Keys that begin with $from and come before $to, at most six.
extern const std::string_view kReadPrefix;
/// The items with $keys, in their order; then the counters.
extern const std::string_view kReadItems;
/// Keys that fit the filter, newest first: $language, $op_type, $target, $run, $polarity ("" each: any), $quarantined
/// and $suspicious (null: any), $count, $offset.
extern const std::string_view kListKeys;
/// Keys in order of insertion after [$inserted, $key], at most $count, each as [inserted, key].
extern const std::string_view kNextKeys;

/// The cards of kPiles piles at once, each of $languageN and $targetN after [$stampN, $keyN], at most $count of each;
/// and the server's time, microseconds.
inline constexpr int kPiles = 6;
extern const std::string_view kReadCards;
/// The cards of all after [$language, $target, $stamp, $key], at most $count.
extern const std::string_view kReadAllCards;

/// Writes $fields over the record with $key that was last changed at $stamp (null: whenever). Gives how many it wrote.
extern const std::string_view kEdit;
/// Removes the record with $key and the solutions that only it refers to, and remembers that. Gives how many solutions;
/// -1: there is no such record. Is run in a transaction.
extern const std::string_view kForget;
/// Sets the record's quarantined to $hidden. Gives whether it is there.
extern const std::string_view kQuarantine;
/// Those of $keys that are quarantined; those that were forgotten.
extern const std::string_view kHidden;
/// Counts $events that were not counted. Gives how many were new. Is run in a transaction.
extern const std::string_view kCredit;

extern const std::string_view kStats;
/// The newest $limit records, their improved_by and seen_on, and what rests on them.
extern const std::string_view kGraph;

}  // namespace accelopt::memory::surreal
