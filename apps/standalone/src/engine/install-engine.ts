import { installPackages } from '@sandyard/runtime-docker/host/install-packages'
import { hasControlGroups } from './control-groups.ts'

/** Installs the distribution's engine, and the mounting of control groups on a machine whose boot did not do it. */
export async function installEngine(say: (line: string) => void): Promise<void> {
  const packages = ['docker.io', 'apparmor', 'ca-certificates']
  await installPackages(hasControlGroups() ? packages : [...packages, 'cgroupfs-mount'], say)
}
