import { join } from 'node:path'
import { fail, skipped, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'
import { findServerProcess } from '../facts/server-process.ts'

/** File systems by their magic numbers, as statfs has them. */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xfe534d42: 'SMB',
  0xff534d42: 'CIFS',
  0x65735546: 'FUSE',
}
const VOLATILE: Readonly<Record<number, string>> = { 0x01021994: 'tmpfs', 0x858458f6: 'ramfs' }
/** The embedded Postgres of root has an account of its own, which passes through with its group. */
const MODES: readonly number[] = [0o700, 0o710]
const SECRETS: readonly string[] = ['credentials', 'postgres-password']

export const dataDirectory: Check = {
  id: 'D3',
  title: 'Data directory',
  checks:
    'of another owner than the server, with another mode than 0700 (0710 beside the embedded Postgres of root), or with `credentials` that others may read: fails; ' +
    'on tmpfs fails, on NFS, SMB or FUSE warns; an embedded Postgres whose server has died warns',
  why: 'It has the raw credentials and the embedded database: others must not read it, and it must outlive a restart.',
  todo: 'Give the directory to the user of the server with mode 0700, on a disk of this machine.',
  async run(facts): Promise<Finding> {
    const { dataDir } = facts.settings
    const stats = facts.machine.stat(dataDir)
    if (stats === undefined) return skipped(`there is no ${dataDir} here: set SANDYARD_DATA_DIR`)
    if (!facts.machine.mayList(dataDir))
      return skipped(`this user may not read ${dataDir}: run this as its owner (user ${stats.uid}) or as root`)
    const { type } = await facts.machine.space(dataDir)
    const mode = stats.mode & 0o777
    const server = findServerProcess(facts)
    return worstOf(
      [
        MODES.includes(mode) ? undefined : fail(`${dataDir} has mode ${show(mode)}`, { commands: [`chmod 700 ${dataDir}`] }),
        judgeOwner(facts, stats.uid),
        ...SECRETS.map((name) => judgeSecret(facts, join(dataDir, name))),
        VOLATILE[type] === undefined ? undefined : fail(`${dataDir} is on ${VOLATILE[type]}: a restart of the machine removes it`),
        NETWORK[type] === undefined ? undefined : warn(`${dataDir} is on ${NETWORK[type]}: locks and Postgres do not work reliably there`),
        server === undefined ? judgeLeftover(facts) : undefined,
      ],
      `${dataDir}, mode ${show(mode)}; ${server === undefined ? 'no server runs on it' : `process ${server.pid} runs on it`}`,
    )
  },
}

/** Root may use the directory of any user, but a server of another user may not. */
function judgeOwner(facts: Facts, uid: number): Finding | undefined {
  const server = findServerProcess(facts)
  const status = server === undefined ? undefined : facts.host.find(`proc/${server.pid}/status`)
  const [, running] = /^Uid:\s+(\d+)/m.exec(status ?? '') ?? []
  const user = running === undefined ? (process.getuid?.() ?? 0) : Number(running)
  return user === uid || user === 0
    ? undefined
    : fail(`the directory belongs to user ${uid}, ${server === undefined ? 'this process' : 'the server'} is of user ${user}`)
}

function judgeSecret({ machine }: Facts, file: string): Finding | undefined {
  const mode = (machine.stat(file)?.mode ?? 0) & 0o777
  return (mode & 0o077) === 0 ? undefined : fail(`others may read ${file} (mode ${show(mode)})`, { commands: [`chmod 600 ${file}`] })
}

function judgeLeftover({ host, machine, settings }: Facts): Finding | undefined {
  const [pid = ''] = (machine.readFile(join(settings.dataDir, 'postgres/postmaster.pid')) ?? '').split('\n')
  const running = /^\d+$/.test(pid) ? host.findProcess(Number(pid)) : undefined
  if (running?.args.some((arg) => arg === join(settings.dataDir, 'postgres')) !== true) return undefined
  return warn(`the server has died and its Postgres still runs (process ${pid})`, {
    todo: 'Start the server: it ends what was left behind.',
  })
}

function show(mode: number): string {
  return `0${mode.toString(8)}`
}
