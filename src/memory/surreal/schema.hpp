// SPDX-License-Identifier: Apache-2.0
// What the SurrealDB store writes into its database: the tables of the graph, and the statements that work on them.
// Every value is bound as a parameter; nothing is ever put into a statement's text.
#pragma once

#include <array>
#include <string_view>

namespace accelopt::memory::surreal {

/// Of the tables below; kept in the record accelopt_schema:current.
inline constexpr int kSchemaVersion = 4;

/// Gives the version record's "version", or none in a database without one.
extern const std::string_view kReadVersion;
/// Defines what is not there yet and sets the version record to $version, all or none. Takes in the records that other
/// tools wrote before.
extern const std::string_view kDefineSchema;
/// Statements that bring tables of version n + 1 to version n + 2, all or none each; fit to be run by two at once.
extern const std::array<std::string_view, kSchemaVersion - 1> kUpgrades;

/// Inserts $rows (objects with "key", "fields") that are neither there nor forgotten; where $returns, forgotten ones
/// come back. Gives how many were new. Is run in a transaction.
extern const std::string_view kInsert;
/// Inserts $rows (objects with "key", "fields") into table solution where they are not there.
extern const std::string_view kPutSolutions;
/// The solutions with $keys that are there.
extern const std::string_view kReadSolutions;

/// Keys that begin with $from and come before $to, at most six.
extern const std::string_view kReadPrefix;
/// The items with $keys, in their order; then the counters.
extern const std::string_view kReadItems;
/// Likewise without their code; then the stamps of those of $known that are there, in their order
/// (asking for keys beside them takes twice as long).
extern const std::string_view kReadItemsWithoutCode;
/// Keys that fit the filter, newest first: $language, $op_type, $target, $run, $polarity ("" each: any), $quarantined
/// and $suspicious (null: any), $count, $offset.
extern const std::string_view kListKeys;
/// Keys in order of insertion after [$inserted, $key], at most $count, each as [inserted, key].
extern const std::string_view kNextKeys;

/// The entries of kIndexNames indexes at once, each of $languageN and $targetN after [$stampN, $keyN], at most $count
/// of each; and the server's time, microseconds.
inline constexpr int kIndexNames = 6;
extern const std::string_view kReadCards;
/// The entries of all after [$language, $target, $stamp, $key], at most $count.
extern const std::string_view kReadAllCards;
/// The same, up to those of $to_language and $to_target, which are not among them.
extern const std::string_view kReadCardsBetween;
/// The server's time, microseconds.
extern const std::string_view kServerTime;

/// What a client keeps of an index for others (digest.hpp): the head of $name, a list of language and target, and the
/// server's time; the rows of the part with $id.
extern const std::string_view kReadDigest;
extern const std::string_view kReadDigestPart;
/// Writes $rows, a text, as the part with $id; the head, after which the parts of another generation are gone; removes
/// all.
extern const std::string_view kWriteDigestPart;
extern const std::string_view kWriteDigest;
extern const std::string_view kRemoveDigests;

/// Writes $fields over the record with $key that was last changed at $stamp (null: whenever). Gives how many it wrote.
extern const std::string_view kEdit;
/// The same where the language is another one: the record is the newest of its new language. Is run in a transaction.
extern const std::string_view kEditLanguage;
/// Removes the record with $key and the solutions that only it refers to, and remembers that. Gives how many solutions;
/// -1: there is no such record. Is run in a transaction.
extern const std::string_view kForget;
/// Sets the record's quarantined to $hidden. Gives whether it is there.
extern const std::string_view kQuarantine;
/// Those of $keys that are quarantined; those that were forgotten.
extern const std::string_view kHidden;
/// Those of $numbers that are keys of records, and whose texts are not.
extern const std::string_view kNumberKeys;
/// Keeps $events that are not there, with their plans. Gives how many were new. Is run in a transaction.
extern const std::string_view kCredit;
/// Of the records with $keys those whose credit is not what their events say, and what that is.
extern const std::string_view kCountCredit;
/// Brings the credit of the records of $counts (of kCountCredit) up to all events there are, unless others did.
extern const std::string_view kWriteCredit;

extern const std::string_view kStats;
/// The newest $limit records, their improved_by and seen_on, and what rests on them.
extern const std::string_view kGraph;

}  // namespace accelopt::memory::surreal
