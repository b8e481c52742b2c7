import type { Facts } from './facts.ts'
import type { ThrowAwaySandbox } from './throw-away-sandbox.ts'

export interface Target {
  readonly host: string
  readonly port: number
}

/** What sandboxes may reach by default. */
const CONTROLS: readonly Target[] = [
  { host: 'deb.debian.org', port: 80 },
  { host: 'registry.npmjs.org', port: 443 },
  { host: '1.1.1.1', port: 443 },
]

/** Addresses outside that this machine reaches. */
export async function controlsOf({ machine, settings }: Facts): Promise<Target[]> {
  const mirror = settings.debianMirror
  const own = mirror !== undefined && URL.canParse(mirror) ? [targetOf(new URL(mirror))] : []
  const reached = await Promise.all(
    [...own, ...CONTROLS].map(async (target) => ((await machine.dial(target.host, target.port)) ? [target] : [])),
  )
  return reached.flat()
}

/** Dials from inside of a sandbox: `open`, `refused` or `timeout`. */
export async function dialFrom(sandbox: ThrowAwaySandbox, host: string, port: number): Promise<'open' | 'refused' | 'timeout'> {
  const { exitCode } = await sandbox.run(`timeout 4 bash -c ': < /dev/tcp/${host}/${port}' 2> /dev/null`)
  if (exitCode === 0) return 'open'
  return exitCode === 124 ? 'timeout' : 'refused'
}

function targetOf({ hostname, port, protocol }: URL): Target {
  return { host: hostname, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) }
}
