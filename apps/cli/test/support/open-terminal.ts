import { spawn, type IPty } from 'node-pty'
import { expect } from 'vitest'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'
import { MAIN, type CliRun } from './run-cli.ts'

/** The command line in a terminal of 80 columns and 24 rows. Disposing kills it. */
export interface TerminalCli extends Disposable {
  readonly terminal: IPty
  /** What the terminal has shown so far. */
  readonly shown: () => string
  /** Waits for a text after the last one that was waited for. */
  sees(text: string): Promise<void>
  /** The exit code. */
  readonly ended: Promise<number>
}

export function openTerminal({ args, env, cwd }: Pick<CliRun, 'args' | 'env' | 'cwd'>): TerminalCli {
  const environment = { PATH: '/usr/bin:/bin', HOME: cwd, ...COMPILED_MODULES, ...env }
  const terminal = spawn(process.execPath, [MAIN, ...args], { cols: 80, rows: 24, cwd, env: environment })
  let [text, from, isRunning] = ['', 0, true]
  terminal.onData((data) => void (text += data))
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)))
  void ended.then(() => (isRunning = false))
  return {
    terminal,
    shown: () => text,
    async sees(wanted) {
      await expect.poll(() => text.slice(from)).toContain(wanted)
      from = text.indexOf(wanted, from) + wanted.length
    },
    ended,
    [Symbol.dispose]: () => {
      if (isRunning) terminal.kill('SIGKILL')
    },
  }
}
