import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Goal } from '../../goal.ts'
import { UnexpectedStatusError } from '../../http-call.ts'
import type { Comparison } from '../../report.ts'
import { NotMeasured, type Bench } from '../bench.ts'
import { compare, withOwnGoal } from '../compare.ts'
import type { Daemon } from '../daemons.ts'
import { watchBare, watchByInotifywait, watchPolled, watchStreamed, type Watcher } from '../watchers.ts'

const FOLDER = '/tmp/watched'
/** Waits for the later events of a write before the next write. */
const QUIET_MS = 5
const SOON: Goal = { of: 'ours', at: ['p50'], atMost: 2 }
const REPEAT = { times: 100, warmUps: 10, countCpu: true }

/**
 * From a write in the container to its first event at a client. This process writes through `/proc/<pid>/root`, so that
 * the daemon does no other work.
 */
export async function benchWatch({ daemons }: Bench): Promise<Comparison[]> {
  const watched = [daemons.ours, daemons.reference].filter((daemon) => daemon !== undefined)
  for (const { sandbox } of watched) await sandbox.commands.run(`mkdir -p ${FOLDER}`)
  await expectServed(daemons.ours)
  const streamed = await measureStreams(daemons, watched)
  await using opened = new AsyncDisposableStack()
  const polls = await openAll(opened, watched, watchPolled)
  const polled = await compare(daemons, { what: 'write to watch event, polled', ...REPEAT }, (daemon) =>
    timeEvent(daemon, polls.get(daemon)),
  )
  return [...streamed, ...polled]
}

async function measureStreams(daemons: Bench['daemons'], watched: readonly Daemon[]): Promise<Comparison[]> {
  await using opened = new AsyncDisposableStack()
  const streams = await openAll(opened, watched, watchStreamed)
  const folder = folderOf(daemons.ours)
  const besideOf = (name: string, watcher: Watcher) => ({ name, work: () => timeEvent(daemons.ours, watcher) })
  const beside = [besideOf('fs.watch', opened.use(watchBare(folder)))]
  const inotifywait = await watchByInotifywait(folder)
  if (inotifywait !== undefined) beside.push(besideOf('inotifywait', opened.use(inotifywait)))
  const what = 'write to watch event, SDK stream'
  const comparisons = await compare(daemons, { what, beside, ...REPEAT }, (daemon) => timeEvent(daemon, streams.get(daemon)))
  return withOwnGoal(SOON, comparisons)
}

async function openAll(
  opened: AsyncDisposableStack,
  watched: readonly Daemon[],
  start: (daemon: Daemon, folder: string) => Promise<Watcher>,
): Promise<ReadonlyMap<Daemon, Watcher>> {
  const watchers = new Map<Daemon, Watcher>()
  for (const daemon of watched) watchers.set(daemon, opened.use(await start(daemon, FOLDER)))
  return watchers
}

let serial = 0

async function timeEvent(daemon: Daemon, watcher: Watcher | undefined): Promise<number> {
  const name = `f${serial++}`
  const path = join(folderOf(daemon), name)
  const start = performance.now()
  await watcher?.observe(name, () => writeFileSync(path, 'x'))
  const ms = performance.now() - start
  await delay(QUIET_MS)
  return ms
}

/** The folder as seen from this machine. */
function folderOf({ container }: Daemon): string {
  return join(container.root, FOLDER)
}

async function expectServed(daemon: Daemon): Promise<void> {
  const watch = await watchPolled(daemon, FOLDER).catch((error: unknown) => {
    if (error instanceof UnexpectedStatusError && [404, 501].includes(error.status)) throw new NotMeasured('not served')
    throw error
  })
  await watch[Symbol.asyncDispose]()
}
