import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonIdentity } from './daemon-state.ts'

export interface RunFilePlaces {
  /** `/run/e2b` in a sandbox. */
  readonly runDirectory: string
  /** `/` in a sandbox. */
  readonly systemRoot: string
}

/** Tells programs that they run in a sandbox (envd.md 1.3). Nothing of the daemon depends on the file. */
export function writeMarkerFile({ runDirectory }: RunFilePlaces): void {
  mkdirSync(runDirectory, { recursive: true, mode: 0o755 })
  writeRunFile(join(runDirectory, '.E2B_SANDBOX'), 'true', 0o444)
}

/** Tells programs in which sandbox they run (envd.md 1.3, control-plane.md 11.6). Nothing of the daemon depends on the files. */
export function writeIdentityFiles({ runDirectory, systemRoot }: RunFilePlaces, identity: DaemonIdentity): void {
  const { sandboxId, templateId, buildId } = identity
  mkdirSync(runDirectory, { recursive: true, mode: 0o755 })
  writeRunFile(join(runDirectory, '.E2B_SANDBOX_ID'), sandboxId, 0o644)
  writeRunFile(join(runDirectory, '.E2B_TEMPLATE_ID'), templateId, 0o644)
  // Written here and not at the end of a build: builds share images.
  writeRunFile(join(systemRoot, '.e2b'), `ENV_ID=${templateId}\nTEMPLATE_ID=${templateId}\nBUILD_ID=${buildId}\n`, 0o644)
}

/** The engine mounts the file, so it is written in place. */
export function writeResolvers({ systemRoot }: Pick<RunFilePlaces, 'systemRoot'>, resolvers: readonly string[]): void {
  if (resolvers.length === 0) return
  writeFileSync(join(systemRoot, 'etc/resolv.conf'), resolvers.map((address) => `nameserver ${address}\n`).join(''))
}

/** Removes the path first: an image made from a sandbox may have old files or links of its users there. */
function writeRunFile(path: string, text: string, mode: number): void {
  rmSync(path, { recursive: true, force: true })
  writeFileSync(path, text, { flag: 'wx', mode })
  chmodSync(path, mode)
}
