import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { fail, ok, skipped, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'
import type { ThrowAwaySandbox } from '../facts/throw-away-sandbox.ts'

const PORT = 8000
const FILE = '/tmp/sandyard-doctor'
const CONTENT = 'written by sandyard doctor'
const WAIT_MS = 15_000
/** It listens on an address that the proxy reaches. */
const SERVER = `require("http").createServer((req, res) => res.end("up")).listen(${PORT}, "0.0.0.0")`

export const roundTrip: Check = {
  id: 'R5',
  title: 'Round trip',
  checks:
    'a sandbox is created, runs `true`, a file is written and read, a port answers by its host name and by headers, the sandbox is killed: a step that does not work fails; each has its time',
  why: 'It is what every client does first.',
  todo: 'The step that fails tells where to look: the log of the server for the create and the kill, N5 and the log of the proxy for the port.',
  isDeep: true,
  async run(facts): Promise<Finding> {
    const times: string[] = []
    const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const startedAt = performance.now()
      try {
        return await work()
      } catch (err) {
        throw new StepFailure(`${name}: ${(err as Error).message}; before: ${times.join(', ') || 'nothing'}`, { cause: err })
      } finally {
        times.push(`${name} ${Math.round(performance.now() - startedAt)} ms`)
      }
    }
    await facts.servers.requireUp()
    if (facts.servers.addresses.apiKey === undefined) return skipped('there is no API key here: set E2B_API_KEY or SANDYARD_DATA_DIR')
    try {
      const sandbox = await step('create', () => facts.sandboxes.create())
      await step('true', async () => expectThat((await sandbox.run('true')).exitCode === 0, 'it did not end with 0'))
      await step('write', async () => expectThat((await write(sandbox)).status === 200, 'the write was refused'))
      await step('read', async () => expectThat((await sandbox.file(FILE)).text === CONTENT, 'another text was read'))
      await sandbox.run(`nohup node -e '${SERVER}' > /dev/null 2>&1 < /dev/null &`)
      await step('port by header', () => untilUp(async () => (await sandbox.portByHeader(PORT)).text))
      await step('port by host', () => untilUp(() => askByHost(facts, sandbox)))
      await step('kill', async () => expectThat((await sandbox.kill()) === 204, 'the kill was refused'))
      return ok(times.join(', '))
    } catch (err) {
      if (err instanceof StepFailure) return fail(err.message)
      throw err
    }
  },
}

class StepFailure extends Error {}

async function write(sandbox: ThrowAwaySandbox): Promise<{ readonly status: number }> {
  return sandbox.file(FILE, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: CONTENT })
}

function expectThat(isTrue: boolean, sentence: string): void {
  if (!isTrue) throw new Error(sentence)
}

async function untilUp(ask: () => Promise<string>): Promise<void> {
  await pollUntil({ what: 'the port', timeoutMs: WAIT_MS, everyMs: 100 }, async () =>
    (await ask().catch(() => '')) === 'up' ? true : undefined,
  )
}

/** By the name in the Host header; whether the name resolves is the question of N5. */
async function askByHost({ servers, settings }: Facts, { id, domain }: ThrowAwaySandbox): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = { host: `${PORT}-${id}.${domain ?? settings.domain}` }
  request(servers.addresses.sandboxUrl, { headers, agent: false, signal: AbortSignal.timeout(5000) }, (response) => {
    text(response).then(resolve, reject)
  })
    .on('error', reject)
    .end()
  return promise
}
