import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { randomId } from '@sandyard/kit/ids/ids'
import { TAR_END, tarEntry } from '../../long/attacks/tar-entry.ts'
import type { Course } from '../course.ts'
import { callApi, readOutcomes } from '../places.ts'
import type { Drill, DrillResult } from './drill.ts'

const SPOT = { place: 'upload', account: 'user' } as const
const BUILD_DEADLINE_MS = 120_000

interface Archive {
  readonly name: string
  /** What exists, in the image or on the host, if the archive got out of its directory. */
  readonly mark: string
  readonly bytes: Buffer
}

/** Files that clients send: links and paths that lead elsewhere. */
export const UPLOAD_DRILLS: readonly Drill[] = [
  { id: 'upload-archive', title: 'leave the directory of COPY by paths and links in the archive', run: uploadArchives },
  {
    id: 'upload-link',
    title: "write a file through a link into the daemon's volume or the settings of the kernel",
    run: writeThroughLinks,
  },
]

async function uploadArchives(course: Course): Promise<DrillResult[]> {
  const mark = (what: string): string => `/tmp/escape-${what}-${randomId(8)}`
  const [parent, absolute, linked, hard] = [mark('parent'), mark('absolute'), mark('linked'), mark('hard')]
  const archives: Archive[] = [
    { name: 'parent', mark: parent, bytes: packed(tarEntry(`../../../../../..${parent}`), tarEntry('file')) },
    { name: 'absolute', mark: absolute, bytes: packed(tarEntry(absolute), tarEntry('file')) },
    {
      name: 'linked',
      mark: linked,
      bytes: packed(tarEntry('to', { type: '2', link: '/tmp' }), tarEntry(`to${linked.slice('/tmp'.length)}`), tarEntry('file')),
    },
    { name: 'hard', mark: hard, bytes: packed(tarEntry(hard.slice(1), { type: '1', link: '/etc/passwd' }), tarEntry('file')) },
  ]
  const controls = await controlsOf(course, archives)
  const results = new Map<string, string>()
  const { templateID, buildID } = await callApi(course.connection, 'POST /v3/templates', { name: `escape-${randomId(10)}` })
  const accepted: { readonly archive: Archive; readonly hash: string }[] = []
  for (const archive of archives) {
    const hash = randomId(64).replaceAll(/[^0-9a-f]/g, '0')
    const { url } = await callApi(course.connection, `GET /templates/${String(templateID)}/files/${hash}`)
    const answer = await fetch(String(url), { method: 'PUT', body: new Uint8Array(archive.bytes) })
    if (answer.ok) accepted.push({ archive, hash })
    else results.set(archive.name, `blocked: ${answer.status} ${(await answer.text()).slice(0, 100)}`)
  }
  for (const [name, outcome] of await buildWith(course, { templateId: String(templateID), buildId: String(buildID) }, accepted))
    results.set(name, outcome)
  for (const { name, mark } of archives) {
    if (existsSync(mark)) results.set(name, `open: it wrote ${mark} on the host`)
    await rm(mark, { force: true })
  }
  return archives.map(({ name }) => ({ spot: SPOT, control: controls.get(name) ?? '', result: results.get(name) ?? 'broken: no result' }))
}

/** Where unpacking is careless: `tar` with absolute names. */
async function controlsOf(course: Course, archives: readonly Archive[]): Promise<Map<string, string>> {
  const one = ({ name, mark, bytes }: Archive): string =>
    `mkdir /tmp/${name} && cd /tmp/${name} && echo ${bytes.toString('base64')} | base64 -d | tar -xzPf - 2>&1; [ -e ${mark} ] || [ -e ./${mark} ] && echo 'escape| control | ${name} | open: it wrote the file' || echo 'escape| control | ${name} | blocked: no file'`
  const text = await course.targets.allowed(() => archives.map(one).join('\n'), 'none')
  return new Map([...readOutcomes(text.split('\n'))].map(([key, outcome]) => [key.replace('control ', ''), outcome]))
}

async function buildWith(
  { connection, image }: Course,
  { templateId, buildId }: { readonly templateId: string; readonly buildId: string },
  accepted: readonly { readonly archive: Archive; readonly hash: string }[],
): Promise<Map<string, string>> {
  const look = ({ name, mark }: Archive): string =>
    `[ -e ${mark} ] && echo 'escape| copy | ${name} | open: it wrote ${mark}' || echo 'escape| copy | ${name} | blocked: the entry was left out'`
  const steps = [
    ...accepted.map(({ hash }, at) => ({ type: 'COPY', args: ['.', `/srv/copied-${at}/`, '', ''], filesHash: hash })),
    { type: 'RUN', args: [accepted.map(({ archive }) => look(archive)).join('; ') || 'true', 'root'] },
  ]
  await callApi(connection, `POST /v2/templates/${templateId}/builds/${buildId}`, { fromImage: image, steps })
  const until = performance.now() + BUILD_DEADLINE_MS
  while (true) {
    const { status, logEntries, reason } = await callApi(connection, `GET /templates/${templateId}/builds/${buildId}/status`)
    const failure = `blocked: ${(reason as { message?: string } | undefined)?.message ?? ''}`
    if (status === 'error') return new Map(accepted.map(({ archive }) => [archive.name, failure]))
    if (status === 'ready') {
      const found = readOutcomes((logEntries as { message: string }[]).flatMap(({ message }) => message.split('\n')))
      return new Map([...found].map(([key, outcome]) => [key.replace('copy ', ''), outcome]))
    }
    if (performance.now() > until) throw new Error(`the build with the archives is still ${String(status)}`)
    await delay(200)
  }
}

async function writeThroughLinks(course: Course): Promise<DrillResult[]> {
  const sandbox = await course.attacker()
  const write = async (target: string, bytes: string): Promise<string> => {
    const link = `/home/user/link-${randomId(8)}`
    await sandbox.commands.run(`ln -s ${target} ${link}`, { user: 'user' })
    return sandbox.files.write(link, bytes, { user: 'user' }).then(
      () => 'open: it was written',
      (err: unknown) => `blocked: ${(err as Error).message.split('\n')[0]}`,
    )
  }
  const control = await write('/home/user/escape-target', 'x')
  const { stdout: pattern } = await sandbox.commands.run('cat /proc/sys/kernel/core_pattern')
  const results = [
    await write('/opt/sandyard/escape', 'x'),
    await write('/opt/sandyard/daemon.cjs', 'x'),
    // The same text again, so that a success would change nothing.
    await write('/proc/sys/kernel/core_pattern', pattern),
  ]
  return results.map((result) => ({ spot: SPOT, control, result }))
}

function packed(...entries: readonly Buffer[]): Buffer {
  return gzipSync(Buffer.concat([...entries, TAR_END]))
}
