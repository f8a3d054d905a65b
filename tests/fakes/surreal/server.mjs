// SPDX-License-Identifier: Apache-2.0
// The real SurrealDB engine (the npm package @surrealdb/node) behind the HTTP protocol that SurrealDB publishes, for tests.
//
//   SURREAL_PASS=secret node server.mjs --packages FOLDER [--data FOLDER] [--engine rocksdb] [--user root]
//                                       [--namespace NAME --database NAME] [--port PORT]
//
// Listens on 127.0.0.1, on a free port unless one is given, and prints "listening PORT" when it can be asked. Without
// --data everything is in memory; with it the data outlives a kill (--engine: rocksdb or surrealkv). Ends when its standard input ends, so that no test
// leaves one behind. --packages is the folder that holds node_modules.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    packages: { type: 'string', default: '.' },
    data: { type: 'string' },
    engine: { type: 'string', default: 'rocksdb' },
    user: { type: 'string', default: 'root' },
    namespace: { type: 'string' },
    database: { type: 'string' },
    port: { type: 'string', default: '0' },
  },
});

// ES modules are resolved beside the importing file, but the packages lie in a build folder: find their entry there.
const finder = createRequire(pathToFileURL(resolve(options.packages, 'package.json')));
const folderOf = (name) =>
  finder.resolve.paths(name).map((path) => `${path}/${name}`).find((path) => {
    try { return finder(`${path}/package.json`) !== null; } catch { return false; }
  });
const entryOf = async (name, file) => import(pathToFileURL(`${folderOf(name)}/${file}`));
const sdk = await entryOf('surrealdb', 'dist/surrealdb.mjs');
const { NodeEngine } = await entryOf('@surrealdb/node', 'dist/surrealdb-node.mjs');

// The limits of the server: https://surrealdb.com/docs (environment variables SURREAL_HTTP_MAX_*_BODY_SIZE).
const LIMITS = { '/rpc': 4 << 20, '/sql': 1 << 20, '/signin': 1 << 10 };

// The embedded engine runs without authentication: that guests may do nothing is this program's doing. Its CBOR passes
// through as it is, where a client speaks CBOR: nothing is lost on the way, and no time.
const cbor = new sdk.CborCodec({});
const passing = { encode: (request) => request.bytes ?? cbor.encode(request), decode: (bytes) => ({ bytes }) };
let asked = 0;
const engine = new NodeEngine({ codecs: { cbor: passing }, uniqueId: () => String(++asked), options: {} },
                              { capabilities: { guest_access: false, live_query_notifications: false } });

/** { result } or { error } of what the engine answers, as the protocol words them. */
function answered(value) {
  const failed = value !== null && typeof value === 'object' && !Array.isArray(value) && value.error?.message;
  return failed ? { error: value.error } : { result: value };
}

/** One call of the engine's RPC protocol: { result } or { error }. */
async function call(method, params, session) {
  const { bytes } = await engine.send({ method, params, session });
  return answered(cbor.decode(bytes));
}

/** Where the CBOR item at `at` ends. */
function endOfItem(bytes, at) {
  const major = bytes[at] >> 5, minor = bytes[at] & 31;
  if (minor > 27) throw new Error('CBOR of indefinite length');
  let argument = minor, next = at + 1;
  if (minor >= 24) {
    const width = 1 << (minor - 24);
    argument = width === 8 ? Number(bytes.readBigUInt64BE(next)) : bytes.readUIntBE(next, width);
    next += width;
  }
  if (major === 2 || major === 3) return next + argument;
  const items = major === 4 ? argument : major === 5 ? 2 * argument : major === 6 ? 1 : 0;
  for (let i = 0; i < items; ++i) next = endOfItem(bytes, next);
  return next;
}

/** The values of a CBOR map with few keys, undecoded. */
function entriesOf(bytes) {
  if (bytes[0] >> 5 !== 5 || (bytes[0] & 31) > 23) throw new Error('no CBOR map');
  const entries = {};
  for (let at = 1, left = bytes[0] & 31; left > 0; --left) {
    const value = endOfItem(bytes, at);
    const end = endOfItem(bytes, value);
    if (end > bytes.length) throw new Error('cut short');
    entries[cbor.decode(bytes.subarray(at, value))] = bytes.subarray(value, end);
    at = end;
  }
  return entries;
}

/** The bytes of { key: value }, the value being bytes already, after what else is in the map. */
function withEntry(map, key, value) {
  const head = Buffer.from(cbor.encode(map));
  head[0] += 1;
  return Buffer.concat([head, Buffer.from(cbor.encode(key)), value]);
}

/** A call whose parameters and answer stay CBOR. */
async function passOn(method, params, session) {
  const { bytes } = await engine.send({ bytes: withEntry({ method, session }, 'params', params) });
  const isArray = bytes[0] >> 5 === 4;
  return isArray ? withEntry({}, 'result', bytes) : Buffer.from(cbor.encode(answered(cbor.decode(bytes))));
}

/** As the server's JSON reader does: a string in the form of a record, a UUID or a time is taken for one. */
function strand(value) {
  if (typeof value === 'string') {
    if (/^[A-Za-z_]\w*:(\w+|⟨[^⟩]*⟩|`[^`]*`)$/.test(value)) return new sdk.StringRecordId(value);
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) return new sdk.Uuid(value);
    if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value)) return new sdk.DateTime(value);
    return value;
  }
  if (Array.isArray(value)) return value.map(strand);
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, strand(item)]));
  }
  return value;
}

class Refusal extends Error {
  constructor(status, details, description, information) {
    super(information ?? details);
    this.status = status;
    this.body = { code: status, details, description, information };
  }
}
const unauthorized = () => new Refusal(401, 'Authentication failed',
  'Your authentication details are invalid. Reauthenticate using valid authentication parameters.',
  'There was a problem with authentication');
const badRequest = (information) => new Refusal(400, 'Request problems dectected',
  'There is a problem with your request. Refer to the documentation for further information.', information);

async function newSession() {
  const session = new sdk.Uuid(randomUUID());
  const { error } = await call('attach', undefined, session);
  if (error) throw new Error(error.message);
  return session;
}

let owner;  // a session that may do everything

async function exists(namespace, database) {
  const quoted = (name) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
  const root = (await call('query', ['INFO FOR ROOT'], owner)).result[0].result;
  if (!(namespace in root.namespaces)) return false;
  if (database === undefined) return true;
  const answers = (await call('query', [`USE NS ${quoted(namespace)}; INFO FOR NS`], owner)).result;
  return database in answers[1].result.databases;
}

/** Names the namespace and database of a session. The engine's "use" makes what is missing; headers do not. */
async function place(session, namespace, database) {
  if (namespace === undefined) return;
  const names = database === undefined ? [namespace] : [namespace, database];
  const was = await exists(...names);
  const hadNamespace = await exists(namespace);
  await call('use', [namespace, database], session);
  if (was) return;
  const quoted = (name) => `\`${name.replaceAll('`', '\\`')}\``;
  await call('query', [hadNamespace ? `USE NS ${quoted(namespace)}; REMOVE DATABASE IF EXISTS ${quoted(database)}`
                                    : `REMOVE NAMESPACE IF EXISTS ${quoted(namespace)}`], owner);
}

async function authenticate(session, header, authNamespace, authDatabase) {
  if (header === undefined) return;
  const [scheme, credentials] = header.split(' ', 2);
  if (scheme === 'Basic') {
    const text = Buffer.from(credentials, 'base64').toString('utf8');
    const at = text.indexOf(':');
    const params = { user: text.slice(0, at), pass: text.slice(at + 1) };
    if (authNamespace) params.ns = authNamespace;
    if (authDatabase) params.db = authDatabase;
    if ((await call('signin', [params], session)).error) throw unauthorized();
  } else if (scheme === 'Bearer') {
    if ((await call('authenticate', [credentials], session)).error) throw unauthorized();
  }
}

const sessions = new Map();  // of the same headers
let opening = Promise.resolve();

/** The session of a request's headers. */
async function sessionOf(headers) {
  const names = ['surreal-ns', 'surreal-db', 'surreal-auth-ns', 'surreal-auth-db', 'authorization'];
  const key = JSON.stringify(names.map((name) => headers[name] ?? null));
  if (!sessions.has(key)) {
    const made = opening.then(async () => {
      const session = await newSession();
      await authenticate(session, headers.authorization, headers['surreal-auth-ns'], headers['surreal-auth-db']);
      await place(session, headers['surreal-ns'], headers['surreal-db']);
      return session;
    });
    opening = made.catch(() => {});
    sessions.set(key, made);
    made.catch(() => sessions.delete(key));
  }
  return sessions.get(key);
}

const kJson = 'application/json';
const kCbor = 'application/cbor';
const METHODS = ['ping', 'version', 'info', 'query', 'select', 'create', 'insert', 'insert_relation', 'update', 'upsert',
                 'merge', 'patch', 'delete', 'relate', 'run', 'signin', 'use', 'authenticate'];

async function serveRpc(request, body) {
  const type = (request.headers['content-type'] ?? '').split(';')[0].trim();
  const accept = request.headers.accept;
  if (![kJson, kCbor].includes(type) || (accept !== undefined && accept !== '*/*' && accept !== type)) {
    throw new Refusal(415, 'Unsupported media type',
      'The request needs to adhere to certain constraints. Refer to the documentation for supported content types.');
  }
  const session = await sessionOf(request.headers);
  const guest = request.headers.authorization === undefined;
  let asking, params;
  try {
    if (type === kCbor) {
      const entries = entriesOf(body);
      params = entries.params ?? Buffer.from(cbor.encode([]));
      asking = { method: cbor.decode(entries.method) };
    } else {
      asking = strand(JSON.parse(body.toString('utf8')));
    }
  } catch {
    throw badRequest('Parse error');
  }
  const method = asking?.method;
  if (typeof method !== 'string') throw badRequest('Invalid request');
  const refusal = guest && !['ping', 'version', 'signin'].includes(method)
    ? { code: -32602, kind: 'NotAllowed', message: 'Method not allowed', details: { kind: 'Method', details: { name: method } } }
    : !METHODS.includes(method)
    ? { code: -32601, kind: 'NotFound', message: 'Method not found', details: { kind: 'Method', details: { name: method } } }
    : undefined;
  // What changes a session would change that of every other request with the same headers.
  const own = ['signin', 'use', 'authenticate'].includes(method);
  const used = refusal === undefined && own ? await newSession() : session;
  if (type === kCbor) {
    return [200, kCbor, refusal ? Buffer.from(cbor.encode({ error: refusal })) : await passOn(method, params, used)];
  }
  const answer = refusal ? { error: refusal } : await call(method, asking.params ?? [], used);
  return [200, kJson, JSON.stringify(sdk.jsonify(answer))];
}

async function serveSql(request, body, url) {
  if (request.headers.authorization === undefined) {
    throw new Refusal(403, 'Forbidden', 'Not allowed to do this.', "The HTTP route 'sql' is forbidden");
  }
  const session = await sessionOf(request.headers);
  const variables = strand(Object.fromEntries(url.searchParams));
  const { result, error } = await call('query', [body.toString('utf8'), variables], session);
  if (error) throw badRequest(error.message);
  return [200, kJson, JSON.stringify(sdk.jsonify(result))];
}

async function serveSignin(request, body) {
  let asking;
  try {
    asking = JSON.parse(body.toString('utf8'));
  } catch {
    throw badRequest('The request body contains invalid data');
  }
  const { result, error } = await call('signin', [asking], await newSession());
  if (error) throw unauthorized();
  const token = typeof result === 'string' ? result : result.access;
  return [200, kJson, JSON.stringify({ code: 200, details: 'Authentication succeeded', token })];
}

async function serve(request, body) {
  const url = new URL(request.url, 'http://localhost');
  const route = `${request.method} ${url.pathname}`;
  if (body.length > (LIMITS[url.pathname] ?? 1 << 20)) return [413, 'text/plain', 'length limit exceeded'];
  switch (route) {
    case 'GET /health':
    case 'GET /status': return [200, undefined, ''];
    case 'GET /version': return [200, 'text/plain', (await call('version')).result];
    case 'POST /signin': return serveSignin(request, body);
    case 'POST /sql': return serveSql(request, body, url);
    case 'POST /rpc': return serveRpc(request, body);
    default:
      throw new Refusal(404, 'Not found', 'The request was made to an endpoint which does not exist.',
                        `The HTTP route '${url.pathname}' is not found`);
  }
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', async () => {
    let answer;
    try {
      answer = await serve(request, Buffer.concat(pieces));
    } catch (problem) {
      if (!(problem instanceof Refusal)) console.error(problem);
      // The server's authentication layer answers in plain words, before any route is looked at.
      const plain = problem.status === 401 && !request.url.startsWith('/signin');
      answer = problem instanceof Refusal
        ? [problem.status, plain ? undefined : kJson, plain ? problem.message : JSON.stringify(problem.body)]
        : [500, kJson, JSON.stringify({ code: 500, details: 'Internal server error', information: String(problem) })];
    }
    const [status, type, text] = answer;
    const headers = { server: 'SurrealDB', 'surreal-version': 'surrealdb-3.0.2', 'content-length': Buffer.byteLength(text) };
    if (type !== undefined) headers['content-type'] = type;
    response.writeHead(status, headers).end(text);
  });
});
server.keepAliveTimeout = 0;  // connections stay open, as the server's do

const connected = new Promise((done, failed) => {
  engine.subscribe('connected', done);
  engine.subscribe('error', failed);
});
engine.open({ url: new URL(options.data === undefined ? 'mem://' : `${options.engine}://${resolve(options.data)}`) });
await connected;
owner = await newSession();
const password = process.env.SURREAL_PASS ?? '';
const literal = (text) => JSON.stringify(text);
// The engine's first session may do everything; guests may do nothing.
const first = await call('query', [`DEFINE USER OVERWRITE \`${options.user}\` ON ROOT PASSWORD ${literal(password)} ROLES OWNER`]);
if (first.error || first.result[0].status !== 'OK') throw new Error(JSON.stringify(first));
const signedIn = await call('signin', [{ user: options.user, pass: password }], owner);
if (signedIn.error) throw new Error(signedIn.error.message);
if (options.namespace !== undefined) {
  const session = await newSession();
  await call('signin', [{ user: options.user, pass: password }], session);
  await call('use', [options.namespace, options.database], session);
}
server.listen(Number(options.port), '127.0.0.1', () => console.log(`listening ${server.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
