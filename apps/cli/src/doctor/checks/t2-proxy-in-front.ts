import { pollUntil } from '@sandyard/kit/async/poll-until'
import { fail, ok, skipped, worstOf, type Check, type Finding } from '../check.ts'
import { isHttps } from '../facts/addresses.ts'
import type { Facts } from '../facts/facts.ts'
import { reach, upgrades } from '../facts/reach.ts'
import { MIB } from '../sizes.ts'

/** More than the server takes, and far more than the usual default of a front. */
const BODY_BYTES = 17 * MIB
const PORT = 8000
const FIRST_BYTE_MS = 1000
const SLOW_MARGIN_MS = 10_000
const START_TIMEOUT_MS = 15_000

/** Answers `/slow` after a while, `/stream` with one byte at once and the rest later, and accepts every upgrade. */
const serverOf = (slowMs: number): string => `
  const server = require("http").createServer((req, res) => {
    if (req.url === "/slow") return setTimeout(() => res.end("slow"), ${slowMs});
    if (req.url === "/stream") { res.write("a"); return setTimeout(() => res.end("b"), 3000) }
    res.end("up");
  });
  server.on("upgrade", (req, socket) => socket.end("HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n"));
  server.listen(${PORT}, "0.0.0.0");
`

export const proxyInFront: Check = {
  id: 'T2',
  title: 'Proxy in front',
  checks:
    'through `SANDYARD_API_URL`: a body of 17 MiB is refused by us and not by the server in front, else fails; with `--deep` and a domain of your own also through a ' +
    "sandbox's name: a stream's first byte within 1 s, an upgrade (WebSocket) passes, an answer of 70 s is not cut, else fails",
  why: 'A front with small limits breaks uploads, terminals, streams and long commands, and clients see errors that are in none of our logs.',
  todo: 'Set the limits of the server in front: body size 0 (unlimited), no buffering of answers, upgrades passed on, timeouts of at least an hour (docs/self-hosting.md).',
  async run(facts): Promise<Finding> {
    const { publicUrl, hasOwnDomain } = facts.settings
    if (publicUrl === undefined) return skipped('SANDYARD_API_URL is not set')
    await facts.servers.requireUp()
    const findings = [await checkBody(facts, publicUrl.replace(/\/+$/, ''))]
    if (facts.isDeep && hasOwnDomain) findings.push(...(await checkSandbox(facts)))
    return worstOf(findings, findings.map(({ found }) => found).join(', '))
  },
}

async function checkBody(facts: Facts, url: string): Promise<Finding> {
  const key = facts.servers.addresses.apiKey
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key.reveal() }) }
  const options = { method: 'POST', headers, body: Buffer.alloc(BODY_BYTES, ' '), timeoutMs: 60_000 }
  const answer = await reach(facts, `${url}/sandboxes`, options).catch((err: Error) => err)
  if (answer instanceof Error) return fail(`a body of 17 MiB gets no answer: ${answer.message}`)
  if (isOurs(answer.text)) return ok('a large body is refused by us')
  return fail(`a body of 17 MiB is refused by the server in front (${answer.status}), before ours sees it`)
}

/** Our errors are JSON with `code` and `message` (control-plane.md 1.4). */
function isOurs(text: string): boolean {
  try {
    const { code, message } = JSON.parse(text) as { code?: unknown; message?: unknown }
    return typeof code === 'number' && typeof message === 'string'
  } catch {
    return false
  }
}

async function checkSandbox(facts: Facts): Promise<Finding[]> {
  const sandbox = await facts.sandboxes.create()
  await sandbox.run(`nohup node -e '${serverOf(facts.slowAnswerMs)}' > /dev/null 2>&1 < /dev/null &`)
  await pollUntil({ what: 'the server in the sandbox', timeoutMs: START_TIMEOUT_MS, everyMs: 200 }, async () =>
    (await sandbox.portByHeader(PORT)).status === 200 ? true : undefined,
  )
  const scheme = isHttps(facts.settings.publicUrl) ? 'https' : 'http'
  const url = `${scheme}://${PORT}-${sandbox.id}.${facts.settings.domain}`
  const [stream, upgraded, slow] = await Promise.all([
    reach(facts, `${url}/stream`).catch((err: Error) => err),
    upgrades(facts, `${url}/`),
    reach(facts, `${url}/slow`, { timeoutMs: facts.slowAnswerMs + SLOW_MARGIN_MS }).catch((err: Error) => err),
  ])
  return [
    stream instanceof Error || stream.firstByteMs > FIRST_BYTE_MS
      ? fail('answers are buffered: the first byte of a stream is late')
      : ok('streams pass'),
    upgraded ? ok('upgrades pass') : fail('an upgrade (WebSocket) does not pass'),
    slow instanceof Error || slow.text !== 'slow' ? fail('an answer that takes 70 s is cut') : ok('slow answers pass'),
  ]
}
