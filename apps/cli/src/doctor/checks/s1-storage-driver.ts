import { fail, ok, warn, type Check, type Finding } from '../check.ts'

const REFUSED: readonly string[] = ['vfs', 'devicemapper', 'aufs']
const TRIED: readonly string[] = ['overlay2', 'overlayfs']

export const storageDriver: Check = {
  id: 'S1',
  title: 'Storage driver',
  checks: '`/info`: overlay2 with d_type is ok; vfs, devicemapper, aufs and overlay2 without d_type fail; others warn',
  why: 'With vfs every sandbox copies its whole template; devicemapper and aufs are no longer maintained; without d_type files cannot be removed in sandboxes.',
  todo: 'Set "storage-driver": "overlay2" in /etc/docker/daemon.json, on ext4 or on xfs with ftype=1. Templates have to be built again.',
  async run({ engine }): Promise<Finding> {
    const { Driver, DriverStatus } = await engine.info()
    const status = new Map(DriverStatus ?? [])
    if (REFUSED.includes(Driver)) return fail(`the storage driver is ${Driver}`)
    if (status.get('Supports d_type') === 'false') return fail(`${Driver} on ${status.get('Backing Filesystem')}, which has no d_type`)
    const found = `${Driver} on ${status.get('Backing Filesystem') ?? 'an unknown file system'}`
    return TRIED.includes(Driver) ? ok(found) : warn(`${found}: Sandyard was not tried with it`)
  },
}
