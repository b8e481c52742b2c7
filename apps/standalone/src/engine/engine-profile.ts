/**
 * The default seccomp profile of engines that Sandyard starts or installs. It is for the containers that bring no profile of their own: the
 * RUN steps of Dockerfiles, because the builder takes none.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SECCOMP_FILE, SECCOMP_JSON } from '@sandyard/runtime-docker/seccomp/seccomp-profile'
import { MACHINE_ENGINE } from './owned-dockerd.ts'

/** The engine reads it by itself. It refuses to start when an option is both here and among its arguments. */
const CONFIG_FILE = '/etc/docker/daemon.json'
const OPTION = 'seccomp-profile'

/** The processors for which there is a profile. */
const PROFILED: readonly string[] = ['x64', 'arm64']

export interface ProfilePlace {
  /** Where the profile is written. */
  readonly folder: string
  readonly configFile: string
}

/** The arguments of a dockerd with the profile, which is written first. None where the operator has chosen a profile. */
export function profileArguments({ folder, configFile }: ProfilePlace = place(dirname(MACHINE_ENGINE.recordFile))): string[] {
  if (!PROFILED.includes(process.arch) || namesProfile(configFile)) return []
  return [`--${OPTION}`, writeProfile(folder)]
}

/** Writes the configuration of an engine that will be installed and started by a service manager. A configuration that exists stays. */
export function configureProfile({ folder, configFile }: ProfilePlace = place(dirname(CONFIG_FILE))): void {
  if (!PROFILED.includes(process.arch) || existsSync(configFile)) return
  const file = writeProfile(folder)
  writeFileSync(configFile, `${JSON.stringify({ [OPTION]: file }, undefined, 2)}\n`)
}

function place(folder: string): ProfilePlace {
  return { folder, configFile: CONFIG_FILE }
}

function writeProfile(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, SECCOMP_FILE)
  writeFileSync(file, SECCOMP_JSON, { mode: 0o644 })
  return file
}

/** True also for a file that cannot be read: the engine will report it. */
function namesProfile(configFile: string): boolean {
  if (!existsSync(configFile)) return false
  try {
    return OPTION in (JSON.parse(readFileSync(configFile, 'utf8')) as object)
  } catch {
    return true
  }
}
