import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'

interface Line {
  readonly msg: string
  readonly port?: number
}

export interface Program extends AsyncDisposable {
  /** Waits for the line `msg` of its log. */
  said(msg: string): Promise<Line>
}

/** Starts one of our programs as a process of its own. */
export function startProgram(main: string, environment: Record<string, string>): Program {
  const child = spawn(process.execPath, [main], { env: { ...COMPILED_MODULES, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: Line[] = []
  let errors = ''
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line) as Line))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const ended = once(child, 'exit')
  return {
    said: (what) =>
      pollUntil({ what, timeoutMs: 30_000, everyMs: 20 }, () => {
        if (child.exitCode !== null) throw new Error(`the program has ended: ${errors}`)
        return lines.find(({ msg }) => msg === what)
      }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
