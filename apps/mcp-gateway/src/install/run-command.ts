import { spawn } from 'node:child_process'

interface RunOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly timeoutMs: number
}

const KEPT_BYTES = 4096
/** A process that the command has left behind may hold its output open. */
const OUTPUT_GRACE_MS = 1000

/** Runs a command to its end. @throws Error with the end of what it wrote, when it fails or takes too long */
export async function runCommand(command: readonly string[], { environment, cwd, timeoutMs }: RunOptions): Promise<void> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    env: { ...environment },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  let written = ''
  const keep = (chunk: Buffer): void => {
    written = (written + chunk.toString()).slice(-KEPT_BYTES)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  child.on('error', reject)
  child.on('exit', () => {
    setTimeout(() => {
      child.stdout.destroy()
      child.stderr.destroy()
    }, OUTPUT_GRACE_MS).unref()
  })
  child.on('close', (code, signal) => {
    if (code === 0) return resolve()
    const how = signal === null ? `ended with ${code}` : `was ended by ${signal} (limit: ${timeoutMs / 1000} s)`
    reject(new Error(`${program} ${args[0] ?? ''} ${how}: ${written.trim()}`))
  })
  await promise
}
