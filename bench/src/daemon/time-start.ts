/**
 * Runs in a container: measures programs from their start to their end, or daemons from their start to the first 204 of `/health`, in
 * turn. The argument is a `Plan`; the output is the milliseconds of each, as JSON.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { interleave, timeMs } from '../samples.ts'

interface Plan {
  readonly times: number
  readonly exits: Readonly<Record<string, readonly string[]>>
  /** Each accepts `-port`. */
  readonly serves: Readonly<Record<string, readonly string[]>>
}

const DEADLINE_MS = 10_000

let port = 50_100

async function timeExit(command: readonly string[]): Promise<number> {
  return await timeMs(() => once(run(command), 'exit'))
}

async function timeHealthy(command: readonly string[]): Promise<number> {
  port++
  const start = performance.now()
  const child = run([...command, '-port', String(port)])
  const ended = once(child, 'exit')
  try {
    while (!(await isHealthy())) {
      if (performance.now() - start > DEADLINE_MS) throw new Error(`${command.join(' ')} does not answer`)
      await delay(1)
    }
    return performance.now() - start
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

function run([program = '', ...args]: readonly string[]): ChildProcess {
  return spawn(program, args, { stdio: 'ignore' })
}

function isHealthy(): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/health', agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 204)
    }).once('error', () => resolve(false))
  })
}

const { times, exits, serves } = JSON.parse(process.argv[2] ?? '') as Plan
const works = [
  ...Object.entries(serves).map(([name, command]) => [name, () => timeHealthy(command)] as const),
  ...Object.entries(exits).map(([name, command]) => [name, () => timeExit(command)] as const),
]
process.stdout.write(JSON.stringify(await interleave({ times, warmUps: 2 }, Object.fromEntries(works))))
