import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Template } from 'e2b'
import { randomId } from '@sandyard/kit/ids/ids'
import { sandboxSpec } from '../../../packages/runtime-docker/test/support/engine-bench.ts'
import { Inside } from '../../../packages/runtime-docker/test/support/inside.ts'
import type { Course } from '../course.ts'
import { runInDockerfile } from '../places.ts'
import { ACCOUNTS } from '../probe.ts'
import type { Drill, DrillResult } from './drill.ts'

/** File numbers that the engine's runtime may have open on the host when it starts a container (CVE-2024-21626). */
const NUMBERS = [7, 8, 9]

/** Ways through the engine's runtime, and programs with more rights than their user. */
export const RUNTIME_DRILLS: readonly Drill[] = [
  { id: 'workdir-of-host', title: 'a working directory on the host, by a file of the runtime (CVE-2024-21626)', run: enterHost },
  { id: 'host-processes', title: 'see and signal the processes of the host, such as the engine', run: findEngine },
  { id: 'set-uid-program', title: 'become root by a set-uid program where the sandbox must not gain privileges', run: becomeRoot },
]

/** A file that exists on the host only is looked for from working directories below /proc/self/fd. */
async function enterHost(course: Course): Promise<DrillResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'escape-canary-'))
  await writeFile(join(folder, 'canary'), 'the host\n')
  const look = `cat ../../../../../../..${tmpdir()}/${basename(folder)}/canary 2>/dev/null && echo "found in $(pwd)" || true`
  try {
    const plain = await Promise.all(
      NUMBERS.map((number) =>
        course.targets.containers
          .run({ Image: course.image, WorkingDir: `/proc/self/fd/${number}`, Cmd: ['/bin/sh', '-c', look] })
          .catch((err: unknown) => String(err)),
      ),
    )
    const at = plain.findIndex((text) => text.includes('the host'))
    const control = at === -1 ? 'absent: the runtime of this engine leaves no file open' : `open: by number ${NUMBERS[at]}`
    const lines: string[] = []
    const steps = NUMBERS.flatMap((number) => [`WORKDIR /proc/self/fd/${number}`, `RUN ${look}`])
    const built = await runInDockerfile(course.connection, course.image, { steps, lines }).then(() => 'every step ran', reasonOf)
    const template = NUMBERS.reduce(
      (before, number) => before.setWorkdir(`/proc/self/fd/${number}`).runCmd(look, { user: 'root' }),
      Template().fromImage(course.image),
    )
    const told: string[] = []
    const options = {
      ...course.connection,
      cpuCount: 1,
      memoryMB: 512,
      onBuildLogs: ({ message }: { message: string }) => void told.push(message),
    }
    const made = await Template.build(template, `escape-${randomId(10)}`, options).then(() => 'every step ran', reasonOf)
    return [
      { spot: { place: 'Dockerfile step', account: 'root' }, control, result: verdict(lines, built) },
      { spot: { place: 'template step', account: 'root' }, control, result: verdict(told, made) },
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
}

function verdict(lines: readonly string[], end: string): string {
  return lines.some((line) => line.includes('the host')) ? `open: a file of the host was read; ${end}` : `blocked: ${end}`
}

function reasonOf(err: unknown): string {
  return (err as Error).message.split('\n')[0] ?? ''
}

/** Root of a sandbox may signal and trace what is in it, its own daemon included; it must not see anything else. */
async function findEngine(course: Course): Promise<DrillResult[]> {
  const look = `for p in /proc/[0-9]*; do case "$(cat $p/comm)" in dockerd|containerd|kthreadd) kill -0 "\${p#/proc/}" && echo "open: $p" && exit;; esac; done 2>/dev/null; echo 'blocked: no such process'`
  const sandbox = await course.attacker()
  const control = (
    await course.targets.containers.run({ Image: course.image, Cmd: ['/bin/sh', '-c', look], HostConfig: { PidMode: 'host' } })
  ).trim()
  const results = ACCOUNTS.map(async (account) => {
    const { stdout } = await sandbox.commands.run(look, { user: account })
    return { spot: { place: 'sandbox' as const, account }, control, result: stdout.trim() }
  })
  return Promise.all(results)
}

async function becomeRoot(course: Course): Promise<DrillResult[]> {
  const attempt = async (allowPrivilegeGain: boolean): Promise<string> => {
    const spec = sandboxSpec({ image: course.image, allowPrivilegeGain })
    const { code, stdout, stderr } = await new Inside(await course.runtime.create(spec)).sh("su user -c 'sudo -n id -u'")
    await course.runtime.remove(spec)
    return code === 0 && stdout === '0\n' ? 'open: root by sudo' : `blocked: ${stderr.trim().split('\n')[0]}`
  }
  return [{ spot: { place: 'sandbox', account: 'user' }, control: await attempt(true), result: await attempt(false) }]
}
