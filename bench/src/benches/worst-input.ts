import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import type { Comparison } from '../report.ts'
import type { Settings } from '../settings.ts'

const MIB = 1024 ** 2
/** A megabyte below the largest body, for what surrounds the filling. */
const BODY_BYTES = 15 * MIB
const TIMES = 5
const GOAL_MS = 50
/** As long as the idle server is watched for one sample. */
const IDLE_MS = 1000
const TIMEOUT_MS = 120_000

/** One kind of input. `send` resolves when the server has answered, whatever it says. */
interface Input {
  readonly what: string
  readonly send: () => Promise<void>
}

/** What `/health` waits while the worst legal input of each kind is worked on, beside what it waits of an idle server. */
export async function benchWorstInput(settings: Settings): Promise<Comparison[]> {
  await using probe = await HealthProbe.open(`${settings.apiUrl}/health`)
  const comparisons: Comparison[] = []
  for (const { what, send } of inputsFor(settings)) {
    const [ours, idle]: [number[], number[]] = [[], []]
    await send()
    for (let time = 0; time < TIMES; time++) {
      idle.push(await probe.slowestDuring(() => new Promise((resolve) => setTimeout(resolve, IDLE_MS))))
      ours.push(await probe.slowestDuring(send))
    }
    comparisons.push({
      what: `the slowest /health during ${what}`,
      unit: 'ms',
      ours,
      against: { name: 'idle', samples: idle },
      goal: { of: 'ours', at: ['p50'], atMost: GOAL_MS },
    })
  }
  return comparisons
}

function inputsFor({ apiUrl, apiKey, accessToken }: Settings): Input[] {
  const call = async (path: string, { method = 'POST', body, headers }: { method?: string; body?: string | Buffer; headers?: object }) => {
    const answer = await fetch(new URL(path, apiUrl), {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey, ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body }),
    })
    await answer.arrayBuffer()
  }
  const post = (what: string, path: string, body: string): Input => ({ what, send: () => call(path, { body }) })
  const build = '/v2/templates/none/builds/00000000-0000-4000-8000-000000000000'
  const step = { type: 'RUN', args: ['x'.repeat(BODY_BYTES / 1000), 'root'], force: false }
  const inputs = [
    post('metadata of 15 MiB', '/v2/sandboxes', JSON.stringify({ templateID: 'base', metadata: { a: 'x'.repeat(BODY_BYTES) } })),
    post('metadata of a million keys', '/v2/sandboxes', `{"templateID":"base","metadata":{${manyPairs()}}}`),
    post('a name of 15 MiB', '/v3/templates', JSON.stringify({ name: 'x'.repeat(BODY_BYTES) })),
    post('a reference of 15 MiB', '/v2/sandboxes', JSON.stringify({ templateID: 'a/'.repeat(BODY_BYTES / 2) })),
    post('escapes of 15 MiB', '/v2/sandboxes', `{"templateID":"${'\\u0061'.repeat(BODY_BYTES / 6)}"}`),
    post('empty objects of 15 MiB', '/v2/sandboxes', `{"templateID":"base","mcp":[${'{},'.repeat(BODY_BYTES / 3)}{}]}`),
    post('arrays nested 15 million deep', '/v2/sandboxes', `{"templateID":"base","mcp":${'['.repeat(BODY_BYTES)}`),
    post('a build of 1,000 steps and 15 MiB', build, JSON.stringify({ fromImage: 'a', steps: Array.from({ length: 1000 }, () => step) })),
    post('the most values of the largest small body', '/v2/sandboxes', `{"templateID":"base","mcp":{"a":[${'[],'.repeat(16_000)}0]}}`),
    {
      what: '200 unknown keys at once',
      send: async () => {
        const unknown = (): string => `e2b_${randomBytes(20).toString('hex')}`
        await Promise.all(Array.from({ length: 200 }, () => call('/v2/sandboxes', { method: 'GET', headers: { 'x-api-key': unknown() } })))
      },
    },
    {
      what: 'an archive of 200,000 empty files',
      send: async () => {
        const registered = await postJson(apiUrl, apiKey, '/v3/templates', { name: `bench-${randomBytes(4).toString('hex')}` })
        const hash = randomBytes(32).toString('hex')
        const files = await fetch(new URL(`/templates/${registered['templateID']}/files/${hash}`, apiUrl), {
          headers: { 'x-api-key': apiKey },
        })
        const { url } = (await files.json()) as { url: string }
        await call(url, { method: 'PUT', body: ARCHIVE, headers: { 'content-type': 'application/octet-stream' } })
        await call(`/templates/${registered['templateID']}`, { method: 'DELETE' })
      },
    },
  ]
  if (accessToken === undefined) return inputs
  const slow = `FROM a\n${`RUN ${'\\"'.repeat(29_000)}\n`.repeat(4)}`
  const headers = { authorization: `Bearer ${accessToken}` }
  return [
    ...inputs,
    {
      what: 'a Dockerfile of 256 KiB',
      send: () => call('/templates', { body: JSON.stringify({ dockerfile: slow, alias: 'A B' }), headers }),
    },
    {
      what: 'a Dockerfile with a long directive',
      send: () => call('/templates/none', { body: JSON.stringify({ dockerfile: DIRECTIVE }), headers }),
    },
  ]
}

const DIRECTIVE = `# escape=\\${' '.repeat(255 * 1024)}x\nFROM a`

function manyPairs(): string {
  return Array.from({ length: 1_000_000 }, (_, n) => `"k${n}":""`).join(',')
}

async function postJson(apiUrl: string, apiKey: string, path: string, body: object): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey }
  const answer = await fetch(new URL(path, apiUrl), { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Record<string, string>
}

/** The header of an empty file, again and again: what a tar reader does most work for. */
const ARCHIVE = gzipSync(
  Buffer.concat([Buffer.concat(Array.from({ length: 200_000 }, (_, n) => emptyFile(`f${n}`))), Buffer.alloc(1024)]),
  { level: 1 },
)

function emptyFile(name: string): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write('00000000000\0', 124)
  header.write('00000000000\0', 136)
  header.write('        0', 148)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte, at) => (at === 156 ? total + 0x30 : total + byte), 0)
  header.write('0', 156)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** Asks `/health` again and again from a thread of its own, which large bodies of this one do not disturb. */
class HealthProbe implements AsyncDisposable {
  readonly #worker: Worker

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  static async open(url: string): Promise<HealthProbe> {
    const worker = new Worker(new URL('../health-probe.ts', import.meta.url), { workerData: url })
    await once(worker, 'message')
    return new HealthProbe(worker)
  }

  /** The longest that one call took while `work` was under way, in milliseconds. */
  async slowestDuring(work: () => Promise<void>): Promise<number> {
    this.#worker.postMessage('start')
    await once(this.#worker, 'message')
    try {
      await work()
    } finally {
      this.#worker.postMessage('stop')
    }
    const [slowest] = (await once(this.#worker, 'message')) as [number]
    return slowest
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}
