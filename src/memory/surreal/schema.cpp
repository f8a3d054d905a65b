// SPDX-License-Identifier: Apache-2.0
#include "memory/surreal/schema.hpp"

namespace accelopt::memory::surreal {

// Beside the tables that people and other tools read stand two that the database keeps itself, by an event, whoever
// writes: `entry` (one small record an experience, in order of insertion: listings and exports read no texts) and
// `card` (language, target, time of the last change: what retrieval needs to choose, so that a client reads only what
// changed since it last looked). The engine's own full-text index was 20 times slower at 20,000 experiences.
const std::string_view kReadVersion = "SELECT VALUE version FROM accelopt_schema:current";

const std::string_view kDefineSchema = R"surql(
BEGIN;
DEFINE TABLE IF NOT EXISTS accelopt_schema SCHEMALESS;
DEFINE TABLE IF NOT EXISTS optimization SCHEMALESS;
DEFINE TABLE IF NOT EXISTS solution SCHEMALESS;
DEFINE TABLE IF NOT EXISTS task SCHEMALESS;
DEFINE TABLE IF NOT EXISTS plan SCHEMALESS;
DEFINE TABLE IF NOT EXISTS improved_by TYPE RELATION IN solution OUT solution SCHEMALESS;
DEFINE TABLE IF NOT EXISTS seen_on TYPE RELATION IN optimization OUT task SCHEMALESS;
DEFINE TABLE IF NOT EXISTS rests_on TYPE RELATION IN plan OUT optimization SCHEMALESS;
DEFINE TABLE IF NOT EXISTS forgotten SCHEMALESS;
DEFINE TABLE IF NOT EXISTS credit_event SCHEMALESS;
DEFINE TABLE IF NOT EXISTS counter SCHEMALESS;
DEFINE TABLE IF NOT EXISTS entry SCHEMALESS;
DEFINE TABLE IF NOT EXISTS card SCHEMALESS;
DEFINE FIELD IF NOT EXISTS inserted ON optimization VALUE $before.inserted ?? $value ?? time::micros(time::now());
DEFINE FIELD IF NOT EXISTS stamp ON optimization VALUE time::micros(time::now());
DEFINE EVENT IF NOT EXISTS accelopt_keep ON optimization WHEN true THEN {
  LET $key = record::id($value.id);
  IF !type::is_string($key) AND !type::is_int($key) { RETURN NONE };
  IF $before.stamp != NONE {
    DELETE type::record('card', [<string>($before.language ?? ''), <string>($before.target ?? '*'), $before.stamp, $key]);
  };
  IF $event = 'DELETE' {
    DELETE type::record('entry', [$before.inserted, $key]);
    DELETE type::record('improved_by', $key);
    DELETE type::record('seen_on', $key);
    RETURN NONE;
  };
  UPSERT type::record('entry', [$after.inserted, $key]) SET
    language = $after.language, op_type = $after.op_type, target = $after.target, run = $after.run,
    polarity = $after.polarity ?? 'improves', quarantined = $after.quarantined = true,
    suspicious = array::len($after.suspicions ?? []) > 0 RETURN NONE;
  UPSERT type::record('card', [<string>($after.language ?? ''), <string>($after.target ?? '*'), $after.stamp, $key]) SET
    o = $after.op_type, b = $after.bound, r = $after.run, q = $after.quarantined = true, i = $after.inserted,
    p = $after.polarity, e = $after.effect, c = $after.confirmed, f = $after.refuted,
    w = string::slice(array::join([<string>($after.title ?? ''), <string>($after.strategy ?? ''),
          <string>($after.op_type ?? ''), <string>($after.bound ?? ''), <string>($after.task ?? ''),
          <string>($after.before ?? ''), <string>($after.after ?? '')], ' '), 0, 8000) RETURN NONE;
  IF $event != 'CREATE' { RETURN NONE };
  IF type::is_string($after.slow) AND type::is_string($after.fast) AND $after.slow != '' AND $after.fast != '' {
    INSERT RELATION INTO improved_by { id: type::record('improved_by', $key), in: type::record('solution', $after.slow),
      out: type::record('solution', $after.fast), speedup: $after.effect, optimization: $after.id } RETURN NONE;
  };
  IF type::is_string($after.task) AND $after.task != '' {
    INSERT RELATION INTO seen_on { id: type::record('seen_on', $key), in: $after.id,
      out: type::record('task', $after.task) } RETURN NONE;
  };
};
DEFINE EVENT IF NOT EXISTS accelopt_replace ON optimization WHEN $event = 'UPDATE' AND $before.inserted != NONE
  AND $before.inserted != $after.inserted THEN {
  DELETE type::record('entry', [$before.inserted, record::id($value.id)]) RETURN NONE;
};
UPDATE optimization RETURN NONE;
UPSERT accelopt_schema:current SET version = $version RETURN NONE;
COMMIT;
)surql";

// What each version changed in the one before. Version 1: a language had one counter, with the language as its key.
// Version 2: of two insertions that took the same of a language's counters only the second was counted, so that later
// ones were given places that others had. Version 3: a record that was written anew as a whole, and so got another time
// of insertion, kept its old entry.
const std::array<std::string_view, kSchemaVersion - 1> kUpgrades{
    R"surql(
BEGIN;
LET $whole = (SELECT VALUE record::id(id) FROM counter WHERE type::is_string(record::id(id)));
FOR $language IN $whole {
  LET $n = type::record('counter', $language).n ?? 0;
  UPSERT type::record('counter', [$language, 0]) SET n += $n RETURN NONE;
};
DELETE counter WHERE type::is_string(record::id(id)) RETURN NONE;
UPSERT accelopt_schema:current SET version = 2 RETURN NONE;
COMMIT;
)surql",
    R"surql(
BEGIN;
LET $last = (SELECT language, math::max(seq) AS place FROM optimization WHERE type::is_int(seq) GROUP BY language);
FOR $it IN $last {
  LET $name = IF ($it.language ?? '') = '' { '*' } ELSE { <string>$it.language };
  LET $counted = math::sum(SELECT VALUE n FROM counter:[$name, 0]..[$name, ..]);
  IF $counted < $it.place { UPSERT type::record('counter', [$name, 0]) SET n += $it.place - $counted RETURN NONE };
};
UPSERT accelopt_schema:current SET version = 3 RETURN NONE;
COMMIT;
)surql",
    R"surql(
BEGIN;
DEFINE EVENT IF NOT EXISTS accelopt_replace ON optimization WHEN $event = 'UPDATE' AND $before.inserted != NONE
  AND $before.inserted != $after.inserted THEN {
  DELETE type::record('entry', [$before.inserted, record::id($value.id)]) RETURN NONE;
};
LET $old = (SELECT VALUE record::id(id) FROM entry).filter(|$e| type::record('optimization', $e[1]).inserted != $e[0]);
FOR $e IN $old { DELETE type::record('entry', $e) RETURN NONE };
UPSERT accelopt_schema:current SET version = 4 RETURN NONE;
COMMIT;
)surql",
};

// Insertions of a language are counted in 64 records, of which each takes one by chance: were it one record, every
// insertion would meet all others. Two at the same time may take the same places, which makes their ages a little less.
// `+=`, since the record's own fields read as none on the right-hand side of an UPSERT (engine 3.0.3).
const std::string_view kInsert = R"surql(
BEGIN;
LET $there = (SELECT VALUE record::id(id) FROM $rows.map(|$r| type::record('optimization', $r.key)));
LET $gone = (SELECT VALUE record::id(id) FROM $rows.map(|$r| type::record('forgotten', $r.key)));
LET $new = $rows.filter(|$r| $r.key NOT IN $there AND ($returns OR $r.key NOT IN $gone));
FOR $k IN $new.filter(|$r| $r.key IN $gone) { DELETE type::record('forgotten', $k.key) };
LET $now = time::micros(time::now());
FOR $language IN array::distinct($new.map(|$r| $r.fields.language)) {
  LET $name = IF $language = '' { '*' } ELSE { $language };
  LET $last = math::sum(SELECT VALUE n FROM counter:[$name, 0]..[$name, ..]);
  LET $mine = $new.filter(|$r| $r.fields.language = $language);
  UPSERT type::record('counter', [$name, rand::int(0, 63)]) SET n += array::len($mine) RETURN NONE;
  INSERT INTO optimization $mine.map(|$r, $i| object::extend($r.fields, {
    id: type::record('optimization', $r.key), inserted: $now + $r.place, seq: $last + $i + 1 })) RETURN NONE;
};
LET $tasks = array::distinct($new.filter(|$r| $r.fields.task != '').map(|$r| {
  id: type::record('task', $r.fields.task), name: $r.fields.task, op_type: $r.fields.op_type }));
INSERT IGNORE INTO task $tasks RETURN NONE;
RETURN array::len($new);
COMMIT;
)surql";

const std::string_view kPutSolutions = R"surql(
INSERT IGNORE INTO solution $rows.map(|$r| object::extend($r.fields, { id: type::record('solution', $r.key) })) RETURN NONE
)surql";

const std::string_view kReadSolutions = "SELECT * FROM $keys.map(|$k| type::record('solution', $k))";

const std::string_view kReadPrefix =
    "SELECT VALUE record::id(id) FROM type::record('optimization', $from..$to) LIMIT 6";

const std::string_view kReadItems = R"surql(
SELECT * FROM $keys.map(|$k| type::record('optimization', $k));
SELECT record::id(id) AS id, n FROM counter;
)surql";

const std::string_view kReadItemsWithoutCode = R"surql(
SELECT * OMIT before, after, diff, had FROM $keys.map(|$k| type::record('optimization', $k));
SELECT record::id(id) AS id, n FROM counter;
SELECT VALUE stamp FROM $known.map(|$k| type::record('optimization', $k));
)surql";

const std::string_view kListKeys = R"surql(
SELECT id FROM entry
  WHERE ($language = '' OR language = $language) AND ($op_type = '' OR op_type = $op_type)
    AND ($target = '' OR target = $target) AND ($run = '' OR run = $run)
    AND ($polarity = '' OR polarity = $polarity) AND ($quarantined = NULL OR quarantined = $quarantined)
    AND ($suspicious = NULL OR suspicious = $suspicious)
  ORDER BY id DESC LIMIT $count START $offset;
)surql";

const std::string_view kNextKeys = "SELECT VALUE record::id(id) FROM entry:[$inserted, $key]>.. LIMIT $count";

const std::string_view kReadCards = R"surql(
SELECT record::id(id) AS id, o, b, r, q, i, p, e, c, f, w
  FROM card:[$language0, $target0, $stamp0, $key0]>..[$language0, $target0, ..] LIMIT $count;
SELECT record::id(id) AS id, o, b, r, q, i, p, e, c, f, w
  FROM card:[$language1, $target1, $stamp1, $key1]>..[$language1, $target1, ..] LIMIT $count;
SELECT record::id(id) AS id, o, b, r, q, i, p, e, c, f, w
  FROM card:[$language2, $target2, $stamp2, $key2]>..[$language2, $target2, ..] LIMIT $count;
SELECT record::id(id) AS id, o, b, r, q, i, p, e, c, f, w
  FROM card:[$language3, $target3, $stamp3, $key3]>..[$language3, $target3, ..] LIMIT $count;
SELECT record::id(id) AS id, o, b, r, q, i, p, e, c, f, w
  FROM card:[$language4, $target4, $stamp4, $key4]>..[$language4, $target4, ..] LIMIT $count;
SELECT record::id(id) AS id, o, b, r, q, i, p, e, c, f, w
  FROM card:[$language5, $target5, $stamp5, $key5]>..[$language5, $target5, ..] LIMIT $count;
RETURN time::micros(time::now());
)surql";

const std::string_view kReadAllCards =
    "SELECT record::id(id) AS id, o, b, r, q, i, p, e, c, f, w "
    "FROM card:[$language, $target, $stamp, $key]>.. LIMIT $count";

const std::string_view kReadCardsBetween =
    "SELECT record::id(id) AS id, o, b, r, q, i, p, e, c, f, w "
    "FROM card:[$language, $target, $stamp, $key]>..[$to_language, $to_target] LIMIT $count";

const std::string_view kServerTime = "RETURN time::micros(time::now())";

const std::string_view kReadDigest = R"surql(
SELECT generation, parts, stamp, key FROM type::record('card_digest', $name);
RETURN time::micros(time::now());
)surql";

const std::string_view kReadDigestPart = "SELECT VALUE rows FROM type::record('card_digest', $id)";

const std::string_view kWriteDigestPart = "UPSERT type::record('card_digest', $id) SET rows = $rows RETURN NONE";

const std::string_view kWriteDigest = R"surql(
BEGIN;
UPSERT type::record('card_digest', [$language, $target]) SET
  generation = $generation, parts = $parts, stamp = $stamp, key = $key RETURN NONE;
DELETE card_digest:[$language, $target, '']..[$language, $target, $generation] RETURN NONE;
DELETE card_digest:[$language, $target, $generation, $parts]..[$language, $target, ..] RETURN NONE;
COMMIT;
)surql";

const std::string_view kRemoveDigests = "DELETE card_digest RETURN NONE";

const std::string_view kEdit = R"surql(
RETURN array::len(UPDATE type::record('optimization', $key) MERGE $fields WHERE $stamp = NULL OR stamp = $stamp
  RETURN VALUE true)
)surql";

// As the newest of that language: ages are counted by language.
const std::string_view kEditLanguage = R"surql(
BEGIN;
LET $name = IF $fields.language = '' { '*' } ELSE { $fields.language };
LET $last = math::sum(SELECT VALUE n FROM counter:[$name, 0]..[$name, ..]);
LET $placed = object::extend($fields, { seq: $last + 1 });
LET $done = array::len(UPDATE type::record('optimization', $key) MERGE $placed WHERE $stamp = NULL OR stamp = $stamp
  RETURN VALUE true);
IF $done > 0 { UPSERT type::record('counter', [$name, rand::int(0, 63)]) SET n += $done RETURN NONE };
RETURN $done;
COMMIT;
)surql";

const std::string_view kForget = R"surql(
BEGIN;
LET $id = type::record('optimization', $key);
LET $there = record::exists($id);
LET $own = array::distinct([$id.slow, $id.fast]).filter(|$k| type::is_string($k) AND $k != '');
DELETE $id RETURN NONE;
IF $there { UPSERT type::record('forgotten', $key) SET at = time::now() RETURN NONE };
LET $spoken = array::flatten((SELECT VALUE [slow, fast] FROM optimization WHERE slow IN $own OR fast IN $own));
LET $lone = $own.filter(|$k| $k NOT IN $spoken AND record::exists(type::record('solution', $k)));
FOR $k IN $lone { DELETE type::record('solution', $k) RETURN NONE };
RETURN IF $there { array::len($lone) } ELSE { -1 };
COMMIT;
)surql";

const std::string_view kQuarantine =
    "RETURN array::len(UPDATE type::record('optimization', $key) SET quarantined = $hidden RETURN VALUE true)";

const std::string_view kHidden = R"surql(
RETURN $keys.filter(|$k| type::record('optimization', $k).quarantined = true);
RETURN $keys.filter(|$k| record::exists(type::record('forgotten', $k)));
)surql";

const std::string_view kNumberKeys = R"surql(
RETURN $numbers.filter(|$n| record::exists(type::record('optimization', $n))
  AND !record::exists(type::record('optimization', <string>$n)))
)surql";

// Only writes records of its own, so that two meet only where they send the same event.
const std::string_view kCredit = R"surql(
BEGIN;
LET $there = (SELECT VALUE record::id(id) FROM $events.map(|$e| type::record('credit_event', $e.key)));
LET $new = $events.filter(|$e| $e.key NOT IN $there);
INSERT INTO credit_event $new.map(|$e| object::extend($e.fields, { id: type::record('credit_event', $e.key) })) RETURN NONE;
LET $outcomes = $new.filter(|$e| $e.plan_key != '');
INSERT IGNORE INTO plan array::distinct($outcomes.map(|$e| {
  id: type::record('plan', $e.plan_key), title: $e.fields.plan, run: $e.fields.run })) RETURN NONE;
INSERT RELATION INTO rests_on $outcomes.map(|$e| { id: type::record('rests_on', $e.key),
  in: type::record('plan', $e.plan_key), out: type::record('optimization', $e.record),
  outcome: $e.fields.kind, speedup: $e.fields.speedup }) RETURN NONE;
RETURN array::len($new);
COMMIT;
)surql";

// Counts are taken from the events anew, not added to: the engine's memory and SurrealKV storage (3.0.2) let one of 200
// concurrent updates of a record get lost (RocksDB none), and so the next credit makes up for it.
const std::string_view kCountCredit = R"surql(
RETURN $keys.map(|$key| {
  LET $it = type::record('optimization', $key);
  LET $shown = count(SELECT VALUE id FROM credit_event:[$key, 'shown', '']..[$key, 'shown', ..]);
  LET $confirmed = count(SELECT VALUE id FROM credit_event:[$key, 'confirmed', '']..[$key, 'confirmed', ..]);
  LET $refuted = count(SELECT VALUE id FROM credit_event:[$key, 'refuted', '']..[$key, 'refuted', ..]);
  LET $is = [$it.shown ?? 0, $it.confirmed ?? 0, $it.refuted ?? 0];
  LET $due = [($it.had.shown ?? 0) + $shown, ($it.had.confirmed ?? 0) + $confirmed, ($it.had.refuted ?? 0) + $refuted];
  RETURN { key: $key, known: record::exists($it), due: $due, less: $is[0] < $due[0] OR $is[1] < $due[1] OR $is[2] < $due[2],
           more: $is[0] > $due[0] OR $is[1] > $due[1] OR $is[2] > $due[2] };
}).filter(|$c| $c.known AND ($c.less OR $c.more));
)surql";

// One who was met by another finds that the other one counted its events too, and has nothing left to do.
const std::string_view kWriteCredit = R"surql(
FOR $c IN $counts {
  LET $key = $c.key;
  LET $it = type::record('optimization', $key);
  IF $c.more OR ($it.shown ?? 0) < $c.due[0] OR ($it.confirmed ?? 0) < $c.due[1] OR ($it.refuted ?? 0) < $c.due[2] {
    LET $shown = count(SELECT VALUE id FROM credit_event:[$key, 'shown', '']..[$key, 'shown', ..]);
    LET $confirmed = count(SELECT VALUE id FROM credit_event:[$key, 'confirmed', '']..[$key, 'confirmed', ..]);
    LET $refuted = count(SELECT VALUE id FROM credit_event:[$key, 'refuted', '']..[$key, 'refuted', ..]);
    UPDATE $it SET
      shown = (had.shown ?? 0) + $shown, used = (had.used ?? 0) + $confirmed + $refuted,
      confirmed = (had.confirmed ?? 0) + $confirmed, refuted = (had.refuted ?? 0) + $refuted RETURN NONE;
  };
};
)surql";

const std::string_view kStats = R"surql(
SELECT count() AS n FROM optimization GROUP ALL;
SELECT count() AS n FROM entry WHERE quarantined = true GROUP ALL;
SELECT count() AS n FROM entry WHERE suspicious = true GROUP ALL;
SELECT count() AS n FROM forgotten GROUP ALL;
SELECT count() AS n FROM solution GROUP ALL;
SELECT count() AS n FROM credit_event GROUP ALL;
SELECT language AS name, count() AS n FROM entry GROUP BY name;
SELECT op_type AS name, count() AS n FROM entry GROUP BY name;
SELECT polarity AS name, count() AS n FROM entry GROUP BY name;
)surql";

// Without its WHERE the engine (3.0.2) refuses to read named fields of a list of records: "Specify a database to use".
const std::string_view kGraph = R"surql(
LET $ids = (SELECT id FROM entry ORDER BY id DESC LIMIT $limit).map(|$e| type::record('optimization', record::id($e.id)[1]));
LET $improved = $ids.map(|$i| type::record('improved_by', record::id($i)));
LET $seen = $ids.map(|$i| type::record('seen_on', record::id($i)));
LET $rest = array::flatten($ids.map(|$i| $i<-rests_on));
SELECT id, title, strategy, polarity FROM $ids WHERE id != NONE;
SELECT in, out, speedup, optimization FROM $improved WHERE id != NONE;
SELECT in, out FROM $seen WHERE id != NONE;
SELECT in, out, in.title AS title, in.run AS run, outcome, speedup FROM $rest WHERE id != NONE;
)surql";

}  // namespace accelopt::memory::surreal
