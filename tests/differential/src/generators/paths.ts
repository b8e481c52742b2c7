import { PREPARED } from '../agent/prepared-tree.ts'

/** The path as text; undefined if it is not UTF-8. */
function decode(path: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(path, 'latin1'))
  } catch {
    return undefined
  }
}

/** The prepared paths, without most of the long chain of links. */
export const PRESENT: readonly string[] = PREPARED.map(({ path }) => path)
  .filter((path) => !/\/chain\/(?!(0|1|38|39|40|59)$)/.test(path))
  .flatMap((path) => decode(path) ?? [])

/** Unusual, invalid and ambiguous spellings. */
export const ODD: readonly string[] = [
  '',
  '.',
  '..',
  '/..',
  './',
  '../',
  './file.txt',
  'file.txt',
  'file.txt/',
  'work',
  'work/',
  'work//notes.txt',
  'work/../file.txt',
  '../other',
  '../../scratch/file.txt',
  '../../../../scratch/file.txt',
  '~',
  '~/',
  '~//',
  '~/.',
  '~/..',
  '~/file.txt',
  '~/../user/file.txt',
  '~/work/',
  '~\\file.txt',
  '~user',
  '~root/file.txt',
  '~~',
  '~ ',
  ' ~',
  ' ',
  '\t',
  '\\',
  '-',
  '--',
  'a\0b',
  '/scratch/file.txt\0',
  '\0',
  '/scratch//file.txt',
  '//scratch/file.txt',
  '///scratch///dir///a',
  '/./scratch/./file.txt',
  '/scratch/dir/../file.txt',
  '/scratch/missing/../file.txt',
  '/scratch/to-dir/../file.txt',
  '/scratch/to-dir/up/file.txt',
  '/scratch/dir/',
  '/scratch/dir//',
  '/scratch/dir/.',
  '/scratch/dir/./',
  '/scratch/to-dir/',
  '/scratch/to-dir/.',
  '/scratch/to-dir/a',
  '/scratch/to-dir/sub',
  '/scratch/to-root/scratch/file.txt',
  '/scratch/to-file/',
  '/scratch/file.txt/',
  '/scratch/file.txt/.',
  '/scratch/file.txt/..',
  '/scratch/file.txt/child',
  '/scratch/file.txt/child/grandchild',
  '/scratch/fifo/child',
  '/scratch/missing',
  '/scratch/missing/',
  '/scratch/missing/child',
  '/scratch/missing/child/grandchild',
  '/scratch/broken/',
  '/scratch/broken/child',
  '/scratch/loop-a/',
  '/scratch/loop-a/child',
  '/scratch/self/child',
  '/scratch/new\nname',
  '/scratch/new name',
  '/scratch/new"name',
  '/scratch/neu-é',
  '/scratch/\u2028',
  '/scratch/\uFFFD',
  '/scratch/\uFEFF',
  '/scratch/<b>&amp;',
  '/scratch/%2e%2e/%00',
  '/scratch/*',
  '/scratch/$HOME',
  `/scratch/${'m'.repeat(255)}`,
  `/scratch/${'m'.repeat(256)}`,
  `/scratch/${'é'.repeat(127)}`,
  `/scratch/${'é'.repeat(128)}`,
  `/scratch${'/.'.repeat(2000)}/file.txt`,
  `/scratch${'/d'.repeat(2041)}`,
  `/scratch${'/'.repeat(4078)}file.txt`,
  `/scratch${'/'.repeat(4079)}file.txt`,
  `/scratch/${'p/'.repeat(3000)}`,
  `/scratch/${'q'.repeat(70_000)}`,
  '/mnt/other',
  '/mnt/other/new',
  '/proc/self/exe/x',
  '/proc/1/fd/999999',
  '/dev/null',
  '/dev/null/x',
]

export const PATHS: readonly string[] = [...PRESENT, ...ODD]

/** True for a FIFO: opening it for reading waits for a writer. */
export function mayBlock(path: string): boolean {
  return /fifo\/?$/.test(path)
}
