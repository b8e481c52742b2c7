import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const TIMEOUT_MS = 120_000
/** Pause after a failure before the next attempt. */
const RETRY_AFTER_MS = 60 * 60 * 1000

/**
 * A statically linked bash for images without bash: SDKs run every command in `/bin/bash`. Downloads Debian's `bash-static` once into
 * `directory`. Undefined if the download fails: then such images have no bash.
 */
export async function ensureStaticBash(directory: string): Promise<string | undefined> {
  const bash = join(directory, 'bash')
  if ((await modifiedMs(bash)) !== undefined) return bash
  const failed = join(directory, 'unavailable')
  if (Date.now() - ((await modifiedMs(failed)) ?? 0) < RETRY_AFTER_MS) return undefined

  await mkdir(directory, { recursive: true })
  const work = await mkdtemp(join(directory, 'download-'))
  try {
    await rename(await download(work), bash)
    return bash
  } catch (error) {
    await writeFile(failed, `${String(error)}\n`)
    return undefined
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Uses the machine's package lists, or downloads separate lists if there are none. apt checks signatures as usual. */
async function download(work: string): Promise<string> {
  const options = { cwd: work, timeout: TIMEOUT_MS }
  const quick = ['-qq', '-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=15', '-o', 'APT::Sandbox::User=root']
  try {
    await run('apt-get', [...quick, 'download', 'bash-static'], options)
  } catch {
    await mkdir(join(work, 'lists/partial'), { recursive: true })
    const own = [...quick, '-o', `Dir::State::lists=${work}/lists`, '-o', `Dir::Cache=${work}/cache`]
    await run('apt-get', [...own, 'update'], options)
    await run('apt-get', [...own, 'download', 'bash-static'], options)
  }
  const archive = (await readdir(work)).find((name) => name.endsWith('.deb'))
  if (archive === undefined) throw new Error('apt-get brought no package')
  await run('dpkg-deb', ['-x', archive, 'content'], options)
  for (const path of ['content/bin/bash-static', 'content/usr/bin/bash-static']) {
    const bash = join(work, path)
    if ((await modifiedMs(bash)) === undefined) continue
    await chmod(bash, 0o755)
    return bash
  }
  throw new Error('the package has no bash')
}

async function modifiedMs(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
}
