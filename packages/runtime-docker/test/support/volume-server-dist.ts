import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { bundleVolumeServer, findKoffiBinary, KOFFI_BINARY } from '../../../../apps/daemon/build/bundle.ts'
import { listSharedLibraries } from '../../../../apps/daemon/build/shared-libraries.ts'
import type { DaemonDist } from '../../src/daemon-volume/daemon-dist.ts'
import { STAND_IN_COMMAND } from './stand-in-dist.ts'

/** Adds the project's file service of volumes to a stand-in distribution that no engine has yet. */
export async function addVolumeServer({ dir }: DaemonDist): Promise<void> {
  const koffi = findKoffiBinary()
  await copyFile(koffi, join(dir, KOFFI_BINARY))
  for (const library of (await listSharedLibraries([koffi])).libraries) await copyFile(library, join(dir, 'lib', basename(library)))
  await bundleVolumeServer(join(dir, 'volume-server.cjs'))
  const file = join(dir, 'dist.json')
  const manifest = JSON.parse(await readFile(file, 'utf8')) as object
  const volumeServer = [...STAND_IN_COMMAND.slice(0, -1), '/opt/sandyard/volume-server.cjs']
  await writeFile(file, JSON.stringify({ ...manifest, volumeServer }))
}
