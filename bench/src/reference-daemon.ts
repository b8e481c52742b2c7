import { ensureDaemonDist } from '../../apps/daemon/build/dist.ts'
import { findImage } from './daemon/containers.ts'
import { startDaemon, type Daemon } from './daemon/daemons.ts'

/** The other daemon in a container of its own, called without a proxy and without a control plane. */
export async function startReference(reference: string): Promise<Daemon> {
  return await startDaemon({ image: await findImage(), dist: (await ensureDaemonDist()).dir, reference }, 'reference')
}
