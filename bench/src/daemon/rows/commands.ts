import { streamed, streamedBinary } from '../../http-call.ts'
import type { Comparison } from '../../report.ts'
import { timeMs } from '../../samples.ts'
import type { Bench } from '../bench.ts'
import { compare } from '../compare.ts'

const AT_ONCE = 200
const MIB = 32
/** StartRequest { process { cmd: 1, args: 2 } = 1, stdin = 4 } in protobuf. */
const PRINT = streamedBinary('/process.Process/Start', startRequest('/bin/sh', ['-c', `head -c ${MIB}M /dev/zero | tr '\\0' x`]))
const START = streamed('/process.Process/Start', { process: { cmd: '/bin/bash', args: ['-l', '-c', 'true'] }, stdin: false })

/** Processes: one after another, many at once, and one with much output. */
export async function benchCommands({ daemons }: Bench): Promise<Comparison[]> {
  const goal = { of: 'ratio', at: ['p50', 'p95'], atMost: 0.8 } as const
  return [
    ...(await compare(daemons, { what: "commands.run('true'), SDK", goal, times: 150, warmUps: 15, countCpu: true }, ({ sandbox }) =>
      timeMs(() => sandbox.commands.run('true')),
    )),
    ...(await compare(
      daemons,
      { what: 'Start of `bash -l -c true`, plain request', goal, times: 150, warmUps: 15, countCpu: true },
      (daemon) => timeMs(() => daemon.send(START)),
    )),
    ...(await compare(
      daemons,
      { what: `each of ${AT_ONCE} \`true\` at once, SDK`, times: 5, warmUps: 1, countCpu: true },
      async ({ sandbox }) => {
        const ms = await timeMs(() => Promise.all(Array.from({ length: AT_ONCE }, () => sandbox.commands.run('true'))))
        return ms / AT_ONCE
      },
    )),
    ...(await compare(
      daemons,
      { what: `${MIB} MiB of standard output, SDK`, times: 7, warmUps: 1, countCpu: true },
      async ({ sandbox }) => {
        let length = 0
        const onStdout = (text: string): void => void (length += text.length)
        const ms = await timeMs(() => sandbox.commands.run(`head -c ${MIB}M /dev/zero | tr '\\0' x`, { onStdout, timeoutMs: 0 }))
        if (length !== MIB * 1024 ** 2) throw new Error(`${length} characters of output came`)
        return ms
      },
    )),
    ...(await compare(
      daemons,
      { what: `${MIB} MiB of standard output, plain request in protobuf`, times: 7, warmUps: 1, countCpu: true },
      (daemon) =>
        timeMs(async () => {
          const { length } = await daemon.send(PRINT)
          if (length < MIB * 1024 ** 2) throw new Error(`${length} bytes of answer came`)
        }),
    )),
  ]
}

function startRequest(cmd: string, args: readonly string[]): Buffer {
  const text = (field: number, value: string): Buffer => lengthDelimited(field, Buffer.from(value))
  return Buffer.concat([lengthDelimited(1, Buffer.concat([text(1, cmd), ...args.map((arg) => text(2, arg))])), Buffer.of(0x20, 0)])
}

/** Of less than 128 bytes. */
function lengthDelimited(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.of((field << 3) | 2, bytes.length), bytes])
}
