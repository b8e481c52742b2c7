import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { identify, lives } from './process-identity.ts'

/**
 * A folder for what is not finished, or no longer wanted, on the file system of images and containers: what is finished is moved out of it
 * at once. It goes at the end of the work. What killed processes left is removed before.
 */
export async function withWorkFolder<T>(directory: string, work: (folder: string) => Promise<T>): Promise<T> {
  const place = join(directory, 'work')
  await mkdir(place, { recursive: true, mode: 0o700 })
  await removeAbandoned(place)
  const own = await identify(process.pid)
  if (own === undefined) throw new AppError('internal', 'This process is not in /proc')
  const folder = await mkdtemp(join(place, `${own.pid}-${own.startTicks}-`))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function removeAbandoned(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const [pid, startTicks = ''] = name.split('-')
    if (await lives({ pid: Number(pid), startTicks })) continue
    // Another process may remove it at the same time. What stays now goes the next time.
    await rm(join(place, name), { recursive: true, force: true }).catch(() => {})
  }
}
