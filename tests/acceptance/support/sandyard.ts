import { execFile, type ExecFileException } from 'node:child_process'
import { join } from 'node:path'
import { openInTerminal, type CliTerminal } from './cli.ts'
import { server } from './server.ts'

const root = join(import.meta.dirname, '../../..')
const PROGRAM = join(root, 'apps/cli/src/main.ts')
const TIMEOUT_MS = 200_000

export interface SandyardResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface SandyardRun {
  /** In addition to the settings for the server under test. */
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

/** Runs the command line of this project to its end, in a directory. */
export function sandyard(directory: string, args: readonly string[], { env = {}, input = '' }: SandyardRun = {}): Promise<SandyardResult> {
  const settings = { E2B_API_KEY: server.apiKey, E2B_API_URL: server.apiUrl, E2B_SANDBOX_URL: server.sandboxUrl }
  return new Promise((resolve) => {
    const options = { cwd: directory, env: { ...process.env, ...settings, ...env }, timeout: TIMEOUT_MS }
    const child = execFile(process.execPath, [PROGRAM, ...args], options, (error: ExecFileException | null, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr })
    })
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

/** The command line of this project in a terminal. */
export function openSandyard(directory: string, ...args: string[]): CliTerminal {
  return openInTerminal(directory, PROGRAM, args)
}
