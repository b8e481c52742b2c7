import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { spawn, type IPty } from 'node-pty'
import { expect } from 'vitest'
import { server } from './server.ts'

const run = promisify(execFile)

/** The installed release of the E2B command line. */
const PROGRAM = createRequire(import.meta.url).resolve('@e2b/cli/dist/index.js')
const TIMEOUT_MS = 200_000
/** With Node's cache of compiled modules, which `npm test` sets, it starts in two thirds of the time. */
const compiled = process.env['NODE_COMPILE_CACHE']

/**
 * Runs the E2B command line in `directory`, which is also its home, configured by the environment only. Its input is empty.
 *
 * @returns its output without colours
 * @throws Error with its exit status as `code` if that is not 0
 */
export async function e2b(directory: string, ...args: string[]): Promise<string> {
  return e2bWithInput(directory, '', ...args)
}

/** Like {@link e2b}, with an input that ends. */
export async function e2bWithInput(directory: string, input: string, ...args: string[]): Promise<string> {
  const running = run(process.execPath, [PROGRAM, ...args], { cwd: directory, env: environment(directory), timeout: TIMEOUT_MS })
  running.child.stdin?.end(input)
  const { stdout, stderr } = await running
  return `${stdout}${stderr}`
}

/** The command line in a terminal of 80 columns and 24 rows. */
export interface CliTerminal extends Disposable {
  /** What the terminal has shown so far. */
  readonly shown: () => string
  /** Waits for a text after the last one that was waited for. */
  sees(text: string): Promise<void>
  readonly terminal: IPty
  /** The exit status. */
  readonly ended: Promise<number>
}

/** Starts the E2B command line in a terminal, as a user does. Disposing kills it. */
export function openTerminal(directory: string, ...args: string[]): CliTerminal {
  return openInTerminal(directory, PROGRAM, args)
}

/** Starts a program for Node in a terminal, with the settings for the server under test. Disposing kills it. */
export function openInTerminal(directory: string, program: string, args: readonly string[]): CliTerminal {
  const env = { ...environment(directory), TERM: 'xterm-256color' }
  const terminal = spawn(process.execPath, [program, ...args], { cols: 80, rows: 24, cwd: directory, env })
  let text = ''
  let from = 0
  let isRunning = true
  terminal.onData((data) => void (text += data))
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)))
  void ended.then(() => (isRunning = false))
  return {
    shown: () => text,
    async sees(wanted) {
      await expect.poll(() => text.slice(from), { timeout: 60_000, interval: 20 }).toContain(wanted)
      from = text.indexOf(wanted, from) + wanted.length
    },
    terminal,
    ended,
    [Symbol.dispose]: () => {
      if (isRunning) terminal.kill('SIGKILL')
    },
  }
}

function environment(directory: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: directory,
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    E2B_API_KEY: server.apiKey,
    E2B_API_URL: server.apiUrl,
    E2B_SANDBOX_URL: server.sandboxUrl,
  }
}
