import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Flow } from './client.ts'
import type { Installation } from './install.ts'
import { runProgram } from './run-program.ts'

const MAX_REASON_LENGTH = 300

/** How the matrix found a flow. */
export interface Outcome {
  readonly isGood: boolean
  /** A sentence without a full stop, for the page. */
  readonly text: string
  /** Everything that the program printed, to look at after a failure. */
  readonly output: string
}

/**
 * Runs one flow in an empty directory that is its home, too. A flow prints `ok <step>` for each step that it has done, and `failed <step>: <reason>` before it
 * ends with a status other than 0.
 */
export async function runFlow(flow: Flow, installation: Installation, settings: Readonly<Record<string, string>>): Promise<Outcome> {
  const home = await mkdtemp(join(tmpdir(), 'sandyard-matrix-'))
  try {
    const [program, ...args] = installation.command(flow.file)
    const ended = await runProgram(program, [...args, ...(flow.args ?? [])], {
      timeoutMs: flow.timeoutMs,
      cwd: home,
      environment: environment(home, settings),
    })
    const output = `${ended.stdout}${ended.stderr}`
    const steps = [...ended.stdout.matchAll(/^ok (.*)$/gm)].map((match) => match[1] ?? '')
    if (ended.isLate)
      return { isGood: false, text: `took longer than ${flow.timeoutMs / 1000} s after "${steps.at(-1) ?? 'the start'}"`, output }
    if (ended.status === 0 && steps.length > 0)
      return { isGood: true, text: `passed, ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`, output }
    return { isGood: false, text: `failed: ${reasonOf(output)}`, output }
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

function environment(home: string, settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    ...certificates(),
    HOME: home,
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    // The Python client would send even 127.0.0.1 through the machine's proxy.
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    ...settings,
  }
}

/** A machine behind a proxy that ends TLS has authorities of its own. */
function certificates(): NodeJS.ProcessEnv {
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE']
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))
}

function reasonOf(output: string): string {
  const lines = output.trim().split('\n')
  const reason = lines.findLast((line) => line.startsWith('failed ')) ?? lines.findLast((line) => line.trim() !== '') ?? 'no output'
  return reason.replace(/^failed /, '').slice(0, MAX_REASON_LENGTH)
}
