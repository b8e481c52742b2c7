import { spawn } from 'node:child_process'

/** What is kept of each output of a program: its end, which names the reason of a failure. */
const KEPT_BYTES = 1024 * 1024

export interface ProgramEnd {
  /** Null for a program that a signal ended, such as one that exceeded its time. */
  readonly status: number | null
  readonly isLate: boolean
  readonly stdout: string
  readonly stderr: string
}

interface How {
  readonly timeoutMs: number
  readonly cwd?: string
  readonly environment?: NodeJS.ProcessEnv
}

/** Runs a program in a process group of its own, which gets SIGKILL when the time is over, or when the program has ended and left children. */
export async function runProgram(program: string, args: readonly string[], { timeoutMs, cwd, environment }: How): Promise<ProgramEnd> {
  const child = spawn(program, args, { cwd, env: environment ?? process.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const outputs = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => void (outputs[name] = (outputs[name] + chunk).slice(-KEPT_BYTES)))
  }
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    killGroup(child.pid)
  }, timeoutMs)
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      outputs.stderr += error.message
      resolve(null)
    })
    child.once('exit', () => killGroup(child.pid))
    child.once('close', (code) => resolve(code))
  })
  clearTimeout(timer)
  return { status, isLate, ...outputs }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}
