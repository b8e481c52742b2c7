import type { Bench, BenchRow } from '../bench.ts'
import { compare } from '../compare.ts'
import type { Daemon } from '../daemons.ts'
import { unary, type Call } from '../../http-call.ts'
import type { Comparison } from '../../report.ts'
import { timeMs } from '../../samples.ts'

const FOLDER = '/tmp/small'
const FILE = `${FOLDER}/file`
const KIB = Buffer.alloc(1024, 'x')
const OCTETS = { 'content-type': 'application/octet-stream' }

/** One small operation: by the SDK, by a plain request, and as bare file work behind `node:http`. */
interface SmallCall {
  readonly what: string
  readonly sdk?: (daemon: Daemon) => Promise<unknown>
  readonly raw: readonly Call[]
  readonly bare?: Call
  readonly times?: number
}

const get = (path: string, status = 200): Call => ({ method: 'GET', path, status })
const post = (path: string): Call => ({ method: 'POST', path, headers: OCTETS, body: KIB, status: 200 })

const CALLS: Readonly<Record<string, SmallCall>> = {
  health: { what: 'health', raw: [get('/health', 204)], bare: get('/health', 204) },
  stat: {
    what: 'stat',
    sdk: ({ sandbox }) => sandbox.files.getInfo(FILE),
    raw: [unary('/filesystem.Filesystem/Stat', { path: FILE })],
    bare: get('/stat'),
  },
  list: {
    what: 'list of 1,000 entries',
    sdk: ({ sandbox }) => sandbox.files.list(`${FOLDER}/many`),
    raw: [unary('/filesystem.Filesystem/ListDir', { path: `${FOLDER}/many`, depth: 1 })],
    bare: get('/list'),
    times: 60,
  },
  write: {
    what: 'write of 1 KiB',
    sdk: ({ sandbox }) => sandbox.files.write(FILE, KIB.toString()),
    raw: [post(`/files?path=${FILE}&username=user`)],
    bare: post('/copy'),
  },
  read: {
    what: 'read of 1 KiB',
    sdk: ({ sandbox }) => sandbox.files.read(FILE),
    raw: [get(`/files?path=${FILE}&username=user`)],
    bare: get('/copy'),
  },
  directory: {
    what: 'makeDir and remove',
    sdk: async ({ sandbox }) => {
      await sandbox.files.makeDir(`${FOLDER}/made`)
      await sandbox.files.remove(`${FOLDER}/made`)
    },
    raw: ['MakeDir', 'Remove'].map((method) => unary(`/filesystem.Filesystem/${method}`, { path: `${FOLDER}/made` })),
  },
}

export const SMALL_CALL_ROWS: Readonly<Record<string, BenchRow>> = Object.fromEntries(
  Object.entries(CALLS).map(([name, call]) => [name, (bench) => measure(bench, call)]),
)

async function measure({ daemons, bare: server }: Bench, { what, sdk, raw, bare, times = 200 }: SmallCall): Promise<Comparison[]> {
  for (const { sandbox } of [daemons.ours, daemons.reference].filter((daemon) => daemon !== undefined)) {
    await sandbox.commands.run(
      `mkdir -p ${FOLDER}/many && cd ${FOLDER}/many && seq 1 1000 | xargs touch && head -c 1024 /dev/zero > ${FILE}`,
    )
  }
  if (bare !== undefined) await server.send(post('/copy'))
  const warmUps = Math.ceil(times / 5)
  const viaSdk =
    sdk === undefined
      ? []
      : await compare(daemons, { what: `${what}, SDK`, times, warmUps, countCpu: true }, (daemon) => timeMs(() => sdk(daemon)))
  const beside = bare === undefined ? [] : [{ name: 'bare node:http', work: () => timeMs(() => server.send(bare)) }]
  const plain = await compare(daemons, { what: `${what}, plain request`, times: times * 2, warmUps, beside, countCpu: true }, (daemon) =>
    timeMs(async () => {
      for (const call of raw) await daemon.send(call)
    }),
  )
  return [...viaSdk, ...plain]
}
