import type { Sandbox } from 'e2b'
import type { Comparison } from '../../report.ts'
import { timeMs } from '../../samples.ts'
import type { Bench } from '../bench.ts'
import { compare } from '../compare.ts'

const SIZE = { cols: 80, rows: 24 }
const MIB = 8
const BYTES = MIB * 1024 ** 2

/** Terminals: the time to the first output of the shell, the speed of output, and the speed of a paste. */
export async function benchTerminals({ daemons }: Bench): Promise<Comparison[]> {
  return [
    ...(await compare(daemons, { what: 'terminal, to its first byte, SDK', times: 60, warmUps: 6, countCpu: true }, ({ sandbox }) =>
      timeToFirstByte(sandbox),
    )),
    ...(await compare(daemons, { what: `${MIB} MiB of output on a terminal, SDK`, times: 7, warmUps: 1, countCpu: true }, ({ sandbox }) =>
      timeMs(() => printMuch(sandbox)),
    )),
    ...(await compare(daemons, { what: '1 MiB pasted into a terminal, SDK', times: 7, warmUps: 1, countCpu: true }, ({ sandbox }) =>
      timeMs(() => paste(sandbox)),
    )),
  ]
}

async function timeToFirstByte(sandbox: Sandbox): Promise<number> {
  const first = Promise.withResolvers<void>()
  const start = performance.now()
  const terminal = await sandbox.pty.create({ ...SIZE, onData: () => first.resolve() })
  await first.promise
  const ms = performance.now() - start
  await terminal.kill()
  return ms
}

async function printMuch(sandbox: Sandbox): Promise<void> {
  const seen = await converse(sandbox, `stty -opost; head -c ${BYTES} /dev/zero | tr '\\0' x; exit\n`)
  if (seen < BYTES) throw new Error(`${seen} bytes of output came`)
}

async function paste(sandbox: Sandbox): Promise<void> {
  await converse(sandbox, `stty raw -echo; echo go; head -c ${1024 ** 2} > /dev/null; exit\n`, Buffer.alloc(1024 ** 2, 'paste\n'))
}

/** Sends a line, and `more` after the shell has processed it. Returns the number of shown bytes when the terminal has ended. */
async function converse(sandbox: Sandbox, line: string, more?: Uint8Array): Promise<number> {
  let bytes = 0
  let text = ''
  const gone = Promise.withResolvers<void>()
  const terminal = await sandbox.pty.create({
    ...SIZE,
    timeoutMs: 0,
    onData: (chunk) => {
      bytes += chunk.length
      if (text.length < 4096) text += Buffer.from(chunk).toString()
      if (/\bgo\r?\n(?!.*head)/.test(text)) gone.resolve()
    },
  })
  await sandbox.pty.sendInput(terminal.pid, Buffer.from(line))
  if (more !== undefined) {
    await gone.promise
    await sandbox.pty.sendInput(terminal.pid, more)
  }
  await terminal.wait()
  return bytes
}
