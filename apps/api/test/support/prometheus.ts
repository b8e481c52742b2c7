import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { debianProgram } from '../../../../packages/runtime-docker/test/support/debian-program.ts'

export const OBSERVABILITY = join(import.meta.dirname, '../../../../docker/observability')

/** One element of the answer to a query. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [time: number, value: string]
}

export interface Rule {
  readonly type: 'recording' | 'alerting'
  readonly name: string
  readonly query: string
  readonly health: string
  readonly lastError?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

interface Answer<T> {
  readonly status: 'success' | 'error'
  readonly data: T
  readonly error?: string
}

/** The tool of Prometheus that checks its files. @returns its output @throws with its output when a check fails */
export async function promtool(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(await debianProgram('prometheus', 'promtool'), args, { cwd: OBSERVABILITY })
  return stdout + stderr
}

/** Debian's Prometheus with our configuration, rules and alerts. It reads its targets every second, not every 15. */
export class Prometheus implements AsyncDisposable {
  readonly #url: string
  readonly #end: () => Promise<void>

  private constructor(url: string, end: () => Promise<void>) {
    this.#url = url
    this.#end = end
  }

  /** @param targets - where the targets of `prometheus.yml` are: `api:3001` is at the address `127.0.0.1:1234` */
  static async start(targets: Readonly<Record<string, string>>): Promise<Prometheus> {
    const program = await debianProgram('prometheus')
    const folder = await mkdtemp(join(tmpdir(), 'sandyard-prometheus-'))
    const address = `127.0.0.1:${await findFreePort()}`
    let config = await readFile(join(OBSERVABILITY, 'prometheus.yml'), 'utf8')
    for (const [from, to] of Object.entries({ ...targets, 'localhost:9090': address })) {
      if (!config.includes(`'${from}'`)) throw new Error(`prometheus.yml has no target ${from}`)
      config = config.replace(`'${from}'`, `'${to}'`)
    }
    config = config.replaceAll(/(scrape_interval|scrape_timeout|evaluation_interval): \d+s/g, '$1: 1s')
    await writeFile(join(folder, 'prometheus.yml'), config)
    for (const name of ['rules.yml', 'alerts.yml']) await copyFile(join(OBSERVABILITY, name), join(folder, name))
    const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`]
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    const ended = once(child, 'exit')
    const end = async (): Promise<void> => {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true })
    }
    try {
      await pollUntil({ what: 'the start of Prometheus', timeoutMs: 20_000, everyMs: 50 }, async () => {
        if (child.exitCode !== null) throw new Error('Prometheus has ended')
        const answer = await fetch(`http://${address}/-/ready`).catch(() => undefined)
        return answer?.ok === true ? true : undefined
      })
    } catch (cause) {
      await end()
      throw new Error(`Prometheus did not start: ${output}`, { cause })
    }
    return new Prometheus(`http://${address}`, end)
  }

  /** The value of an expression now. @throws when it cannot be evaluated */
  async query(query: string): Promise<readonly Series[]> {
    const { result, resultType } = await this.#get<{ resultType: string; result: readonly Series[] }>('query', { query })
    if (resultType !== 'vector') throw new Error(`${query} is a ${resultType}`)
    return result
  }

  async rules(): Promise<readonly Rule[]> {
    const { groups } = await this.#get<{ groups: readonly { rules: readonly Rule[] }[] }>('rules', {})
    return groups.flatMap(({ rules }) => rules)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
  }

  async #get<T>(path: string, parameters: Record<string, string>): Promise<T> {
    const answer = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`)
    const { status, data, error } = (await answer.json()) as Answer<T>
    if (status !== 'success') throw new Error(`${parameters['query'] ?? path}: ${error}`)
    return data
  }
}
