import { canLimitDisk } from '@sandyard/runtime-docker/engine/disk-limit'
import { ok, warn, type Check, type Finding } from '../check.ts'

/** The owner of the probe where no server has run yet. */
const NO_INSTALLATION = 'doctor'

export const diskQuota: Check = {
  id: 'S2',
  title: 'Disk quota',
  checks: 'a container with `StorageOpt` is created and removed, as at each start of the server: warns when the engine refuses it',
  why: 'Without a quota one sandbox can fill the disk of the host, and then all of them fail.',
  todo: 'Put the folder of the engine on xfs that is mounted with the option pquota (/etc/fstab), or keep free space under watch (S3).',
  async run({ engine, database }): Promise<Finding> {
    const installation = (await database.installation().catch(() => undefined)) ?? NO_INSTALLATION
    const isLimited = await engine.read('whether it limits disks', (docker) => canLimitDisk(docker, installation))
    const { Driver } = await engine.info()
    return isLimited ? ok(`${Driver} limits the disk of each sandbox`) : warn(`${Driver} cannot limit the disk of a sandbox here`)
  },
}
