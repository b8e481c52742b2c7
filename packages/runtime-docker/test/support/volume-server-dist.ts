import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { bundleVolumeServer, findKoffiBinary, KOFFI_BINARY } from '../../../../apps/daemon/build/bundle.ts'
import { listSharedLibraries } from '../../../../apps/daemon/build/shared-libraries.ts'
import type { DaemonDist } from '../../src/daemon-volume/daemon-dist.ts'
import { STAND_IN_COMMAND, type DistPart } from './stand-in-dist.ts'

/** The project's file service of volumes, as it is in the sources now. */
export async function volumeServer(): Promise<DistPart> {
  const program = await bundle()
  return { salt: createHash('sha256').update(program).digest('hex'), addTo: (dist) => add(dist, program) }
}

async function bundle(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-volume-server-'))
  try {
    const file = join(folder, 'volume-server.cjs')
    await bundleVolumeServer(file)
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function add({ dir }: DaemonDist, program: Buffer): Promise<void> {
  const koffi = findKoffiBinary()
  await copyFile(koffi, join(dir, KOFFI_BINARY))
  for (const library of (await listSharedLibraries([koffi])).libraries) await copyFile(library, join(dir, 'lib', basename(library)))
  await writeFile(join(dir, 'volume-server.cjs'), program)
  const file = join(dir, 'dist.json')
  const manifest = JSON.parse(await readFile(file, 'utf8')) as object
  const command = [...STAND_IN_COMMAND.slice(0, -1), '/opt/sandyard/volume-server.cjs']
  await writeFile(file, JSON.stringify({ ...manifest, volumeServer: command }))
}
