// A real OpenID provider (npm's oidc-provider) for the tests: on loopback, with keys of its own, in memory.
//
// It logs anybody in by name; `people` has their claims. Its first line of output that begins with "listening" has the
// issuer. Then each line of input is a command in JSON, and each answer is a line that begins with "done":
//   {"rotate": true}                                   new signing keys; the old ones are no longer published
//   {"answer": {"path", "status", "body", "times"}}    these answers come before the provider's own
//   {"count": path}                                    how often a path was asked for

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, settings] = [process.argv[2], JSON.parse(process.argv[3])];
const { Provider } = await import(pathToFileURL(join(modules, "oidc-provider/lib/index.js")));

const KINDS = [
  ["RS256", "rsa", { modulusLength: 2048 }],
  ["ES256", "ec", { namedCurve: "P-256" }],
  ["EdDSA", "ed25519", {}],
];
const FLOWS = ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"];

function client(clientId, algorithm) {
  return {
    client_id: clientId,
    token_endpoint_auth_method: "none",
    application_type: "native",
    grant_types: FLOWS,
    response_types: ["code"],
    // Of a native client on loopback any port will do (RFC 8252, section 7.3).
    redirect_uris: ["http://127.0.0.1/"],
    id_token_signed_response_alg: algorithm,
  };
}

function keys(generation) {
  return KINDS.map(([alg, kind, options]) => {
    const { privateKey } = generateKeyPairSync(kind, options);
    return { ...privateKey.export({ format: "jwk" }), alg, use: "sig", kid: `${alg}-${generation}` };
  });
}

function provider(issuer, generation) {
  return new Provider(issuer, {
    clients: [
      client("wavepool", "RS256"),
      client("wavepool-es256", "ES256"),
      client("wavepool-eddsa", "EdDSA"),
      client("something-else", "RS256"),
    ],
    jwks: { keys: keys(generation) },
    claims: { openid: ["sub", "groups"], email: ["email", "email_verified"], profile: ["preferred_username", "name"] },
    // As most providers do, it puts the claims of the scopes into the ID token.
    conformIdTokenClaims: false,
    cookies: { keys: ["a secret of these tests"] },
    features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...settings.people[sub] }) }),
  });
}

const scripted = new Map();
const counts = new Map();
let generation = 1;
let current;

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://127.0.0.1");
  counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
  const answer = scripted.get(pathname);
  if (!answer?.times) {
    current(request, response);
    return;
  }
  answer.times -= 1;
  request.resume();
  response.writeHead(answer.status, { "Content-Type": "application/json" }).end(JSON.stringify(answer.body));
});

function start(issuer) {
  current = provider(issuer, generation++).callback();
}

function obey(issuer, { rotate, answer, count }) {
  if (rotate) start(issuer);
  if (answer) scripted.set(answer.path, answer);
  return count ? (counts.get(count) ?? 0) : 0;
}

server.listen(settings.port ?? 0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  start(issuer);
  console.log(`listening ${issuer}`);
  createInterface({ input: process.stdin })
    .on("line", (line) => console.log(`done ${JSON.stringify(obey(issuer, JSON.parse(line)))}`))
    .on("close", () => process.exit());
});
