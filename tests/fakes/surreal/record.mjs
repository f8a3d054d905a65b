// SPDX-License-Identifier: Apache-2.0
// Asks a SurrealDB server one request of each kind and writes request and reply to fixtures/, one file each:
//
//   SURREAL_PASS=secret node record.mjs http://127.0.0.1:PORT [FOLDER]
//
// The server is the test server (server.mjs), or `surreal start` itself. It needs namespace team and database knowledge;
// the tables recorded_* are written. Times, tokens and generated ids are blanked, so that recordings can be compared.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [base, folder = new URL('fixtures', import.meta.url).pathname] = process.argv.slice(2);
const password = process.env.SURREAL_PASS ?? '';
const kBlank = '(blank)';

const names = { 'surreal-ns': 'team', 'surreal-db': 'knowledge' };
const json = { 'content-type': 'application/json', accept: 'application/json' };
const rpc = (method, params) => JSON.stringify({ id: 1, method, params });
const requests = {
  health: { method: 'GET', path: '/health' },
  version: { method: 'GET', path: '/version' },
  signin: { method: 'POST', path: '/signin', headers: json, body: JSON.stringify({ user: 'root', pass: kBlank }) },
  signin_wrong: { method: 'POST', path: '/signin', headers: json, body: JSON.stringify({ user: 'root', pass: 'no' }) },
  sql: { method: 'POST', path: '/sql?lang=python', headers: { ...names, accept: 'application/json' }, user: true,
         body: 'DEFINE TABLE IF NOT EXISTS recorded_sql; SELECT strategy FROM recorded_sql WHERE language = $lang' },
  rpc_query: { method: 'POST', path: '/rpc', headers: { ...names, ...json }, user: true,
               body: rpc('query', ['DEFINE TABLE IF NOT EXISTS recorded_rpc; UPSERT recorded_rpc:one SET text = $text; '
                                   + 'SELECT id, text FROM recorded_rpc', { text: 'plain words' }]) },
  rpc_missing_table: { method: 'POST', path: '/rpc', headers: { ...names, ...json }, user: true,
                       body: rpc('query', ['SELECT * FROM recorded_nowhere']) },
  rpc_parse_error: { method: 'POST', path: '/rpc', headers: { ...names, ...json }, user: true,
                     body: rpc('query', ['SELECT FROM']) },
  rpc_missing_namespace: { method: 'POST', path: '/rpc', headers: { ...names, 'surreal-ns': 'nowhere', ...json }, user: true,
                           body: rpc('query', ['CREATE recorded_rpc']) },
  rpc_guest: { method: 'POST', path: '/rpc', headers: { ...names, ...json }, body: rpc('query', ['RETURN 1']) },
  rpc_wrong_password: { method: 'POST', path: '/rpc', headers: { ...names, ...json,
                        authorization: 'Basic ' + btoa('root:no') }, body: rpc('query', ['RETURN 1']) },
  no_route: { method: 'GET', path: '/recorded_nowhere' },
};

function blanked(value) {
  if (Array.isArray(value)) return value.map(blanked);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(
    ([key, item]) => [key, key === 'time' || key === 'token' ? kBlank : blanked(item)]));
}

for (const [name, { method, path, headers = {}, user, body }] of Object.entries(requests)) {
  const sent = { ...headers };
  if (user) sent.authorization = 'Basic ' + btoa(`root:${password}`);
  const response = await fetch(base + path, {
    method, headers: sent, body: name === 'signin' ? body.replace(kBlank, password) : body });
  const text = await response.text();
  const type = (response.headers.get('content-type') ?? '').split(';')[0];
  const fixture = {
    request: { method, path, headers: user ? { ...headers, authorization: 'Basic ' + kBlank } : headers, body: body ?? '' },
    reply: { status: response.status, content_type: type,
             body: type === 'application/json' ? blanked(JSON.parse(text)) : text },
  };
  writeFileSync(resolve(folder, name + '.json'), JSON.stringify(fixture, null, 2) + '\n');
}
console.log(`${Object.keys(requests).length} recordings in ${folder}`);
