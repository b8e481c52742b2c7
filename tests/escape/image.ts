import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { EngineBench } from '../../packages/runtime-docker/test/support/engine-bench.ts'
import { buildTestImage } from '../../packages/runtime-docker/test/support/test-images.ts'
import type { Probe } from './probe.ts'

const PROGRAMS = ['Escape.pm', 'run', 'serve', 'watch', 'hold'] as const

/** The image of sandboxes, steps and controls: the `base` template with the probes in `/escape`. So each of them has the same tools. */
export async function ensureProbeImage({ docker }: EngineBench, base: string, probes: readonly Probe[]): Promise<string> {
  const programs = await Promise.all(PROGRAMS.map(async (name) => [name, await programOf(name)] as const))
  const files = [...programs, ...probes.map(({ id, perl }) => [`${id}.pl`, sourceOf(perl)] as const)]
  const script = [
    'set -e',
    'mkdir /escape',
    'cd /escape',
    ...files.map(([name, text]) => `cat > ${name} <<'END_OF_FILE'\n${text}\nEND_OF_FILE`),
    'chmod 0755 run serve watch hold',
  ]
  const packed = gzipSync(script.join('\n'), { level: 9 }).toString('base64')
  return buildTestImage(docker, 'escape', `FROM ${base}\nUSER root\nRUN echo ${packed} | base64 -d | gunzip | sh\n`)
}

/** The text of a program in `perl/`. */
export function programOf(name: (typeof PROGRAMS)[number]): Promise<string> {
  return readFile(new URL(`perl/${name}`, import.meta.url), 'utf8')
}

function sourceOf(perl: string): string {
  return `use strict;\nuse warnings;\nuse Fcntl;\nuse IO::Socket;\nuse POSIX ();\nuse Socket;\nuse Escape;\n${perl}\n`
}
