import type { Sandbox } from 'e2b'
import { streamed, unary, type Call } from '../http-call.ts'
import type { Goal } from '../goal.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'
import type { Settings } from '../settings.ts'
import { openWays, type Way } from '../whole-path.ts'

const FILE = '/tmp/bench-small'
const KIB = Buffer.alloc(1024, 'x')
const TIMES = 400
const COMMANDS = 100

interface Row {
  readonly what: string
  readonly call: Call
  readonly times: number
  /** Of the whole path to the other daemon, called directly. */
  readonly goal?: Goal
}

const atMost = (ratio: number): Goal => ({ of: 'ratio', at: ['p50'], atMost: ratio })

const ROWS: readonly Row[] = [
  { what: 'health', call: { method: 'GET', path: '/health', status: 204 }, times: TIMES },
  { what: 'stat', call: unary('/filesystem.Filesystem/Stat', { path: FILE }), times: TIMES, goal: atMost(1.3) },
  {
    what: 'read of 1 KiB',
    call: { method: 'GET', path: `/files?path=${FILE}&username=user`, status: 200 },
    times: TIMES,
    goal: atMost(1.3),
  },
  {
    what: 'write of 1 KiB',
    call: {
      method: 'POST',
      path: `/files?path=${FILE}&username=user`,
      headers: { 'content-type': 'application/octet-stream' },
      body: KIB,
      status: 200,
    },
    times: TIMES,
    goal: atMost(1.3),
  },
  { what: '`true`', call: streamed('/process.Process/Start', { process: { cmd: '/bin/true' } }), times: COMMANDS, goal: atMost(1) },
]

interface SdkRow {
  readonly what: string
  readonly times: number
  readonly goal: Goal
  readonly work: (sandbox: Sandbox) => Promise<unknown>
}

/** The same as a user of the SDK sees them. */
const SDK_ROWS: readonly SdkRow[] = [
  { what: 'files.getInfo', times: TIMES, goal: atMost(1.3), work: ({ files }) => files.getInfo(FILE) },
  { what: 'files.read of 1 KiB', times: TIMES, goal: atMost(1.3), work: ({ files }) => files.read(FILE) },
  { what: 'files.write of 1 KiB', times: TIMES, goal: atMost(1.3), work: ({ files }) => files.write(FILE, KIB.toString()) },
  { what: "commands.run('true')", times: COMMANDS, goal: atMost(1), work: ({ commands }) => commands.run('true') },
]

/** Small requests through the proxy, compared with the same requests directly to the other daemon. The goals need `--reference`. */
export async function benchSmallCalls(settings: Settings): Promise<Comparison[]> {
  await using ways = await openWays(settings)
  const { ours, other, relayed } = ways
  for (const { sandbox } of [ours, other]) await sandbox.files.write(FILE, KIB.toString())
  const compare = async (
    what: string,
    times: number,
    goal: Goal | undefined,
    work: (way: Way) => Promise<unknown>,
  ): Promise<Comparison> => {
    const samples = await interleave(
      { times, warmUps: Math.ceil(times / 5) },
      { ours: () => timeMs(() => work(ours)), other: () => timeMs(() => work(other)) },
    )
    const against = { name: other.name, samples: samples.other }
    return { what, unit: 'ms', ours: samples.ours, against, goal: settings.reference === undefined ? undefined : goal }
  }
  const compareRelay = async ({ what, call, times }: Row, relay: Way): Promise<Comparison> => {
    const samples = await interleave(
      { times, warmUps: Math.ceil(times / 5) },
      { relay: () => timeMs(() => relay.send(call)), other: () => timeMs(() => other.send(call)) },
    )
    const against = { name: other.name, samples: samples.other }
    return { what: `${what} through a relay of bytes to the other daemon`, unit: 'ms', ours: samples.relay, against }
  }
  const comparisons: Comparison[] = []
  for (const row of ROWS) {
    const { what, call, times, goal } = row
    comparisons.push(await compare(`${what} through the whole path`, times, goal, (way) => way.send(call)))
    if (relayed !== undefined) comparisons.push(await compareRelay(row, relayed))
  }
  // Without another daemon both ways have the same sandbox of the SDK.
  if (settings.reference === undefined) return comparisons
  for (const { what, times, goal, work } of SDK_ROWS) {
    comparisons.push(await compare(`${what} through the whole path, SDK`, times, goal, ({ sandbox }) => work(sandbox)))
  }
  return comparisons
}
