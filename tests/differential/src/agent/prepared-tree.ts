import type { TreeEntry } from './tree-entry.ts'

/** The directories that the daemons may change and that are compared after each scenario. `/mnt/other` is another file system. */
export const ROOTS = ['/scratch', '/home/user', '/home/other', '/root', '/tmp', '/mnt/other'] as const

const USER = { uid: 1000, gid: 1000 }
const utf8 = (text: string): string => Buffer.from(text).toString('latin1')

/** Text without a short period, so that a wrong offset is detected. */
function text(length: number): string {
  let content = ''
  for (let line = 1; content.length < length; line++) content += `line ${line}: ${line * 7919}\n`
  return content.slice(0, length)
}

function bytes(length: number): string {
  return Buffer.from(Array.from({ length }, (_, index) => (index * index * 31 + (index >> 3)) & 0xff)).toString('latin1')
}

function file(path: string, content: string, more: Partial<TreeEntry> = {}): TreeEntry {
  return { path, kind: 'file', content, ...USER, ...more }
}

function directory(path: string, more: Partial<TreeEntry> = {}): TreeEntry {
  return { path, kind: 'directory', ...USER, ...more }
}

function link(path: string, target: string): TreeEntry {
  return { path, kind: 'link', target }
}

const PNG = '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'

/** Content by name: the kinds of files that downloads distinguish. */
const CONTENTS: Readonly<Record<string, string>> = {
  'file.txt': 'hello world\n',
  empty: '',
  'empty.txt': '',
  'large.txt': text(100_000),
  'binary.bin': bytes(70_000),
  'page.html': '<!DOCTYPE html><p>hi</p>\n',
  'image.png': PNG,
  'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'data.json': '{"a": 1}\n',
  'script.js': 'let a = 1\n',
  'style.css': 'a {}\n',
  'module.mjs': 'export {}\n',
  'feed.xml': '<?xml version="1.0"?><a/>\n',
  'UPPER.TXT': 'upper\n',
  'archive.tar.gz': '\x1f\x8b\x08\0\0\0\0\0',
  'movie.mp4': '\0\0\0\x18ftypmp42',
  'doc.pdf': '%PDF-1.4\n',
  noext: 'plain text without extension\n',
  'noext-html': '<html><body>',
  'noext-png': PNG,
  'noext-binary': '\0\x01\x02\x03',
  'noext-bom': '\xef\xbb\xbfbom',
  'noext-utf16': '\xfe\xff\0a',
  'unknown.zzz': 'what is this\n',
  'ends.': 'dot at the end\n',
  '.hidden': 'hidden\n',
  '.env.txt': 'A=1\n',
  'my document.pdf': '%PDF-1.4 spaced',
  ' leading': '1',
  'trailing ': '2',
  '-dash': '3',
  '...': '4',
  '~tilde': '5',
  'quo"te.txt': '6',
  'back\\slash.txt': '7',
  'semi;colon=a,b.txt': '8',
  'percent%41.txt': '9',
  'plus+name.txt': '10',
  'question?.txt': '11',
  '#hash.txt': '12',
  "apostrophe'.txt": '13',
  'new\nline.txt': '14',
  'tab\t.txt': '15',
  'bell\x07.txt': '16',
  'del\x7f.txt': '17',
  [utf8('文件.pdf')]: '18',
  [utf8('é.txt')]: '19',
  [utf8('e\u0301.txt')]: '20',
  [utf8('😀')]: '21',
  ['n'.repeat(255)]: '22',
}

/** Names that are not UTF-8, in a separate directory, because they can make a whole listing fail. */
const RAW_NAMES = ['caf\xe9.txt', '\xff\xfe', 'ok.txt', 'surrogate\xed\xa0\x80']

function chain(length: number): TreeEntry[] {
  return Array.from({ length }, (_, index) => link(`/scratch/chain/${index}`, index === 0 ? '../file.txt' : `${index - 1}`))
}

/** All entries before a scenario, parents before children. */
export const PREPARED: readonly TreeEntry[] = [
  directory('/home/user'),
  file('/home/user/file.txt', 'home\n'),
  directory('/home/user/work'),
  file('/home/user/work/notes.txt', 'notes\n'),
  link('/home/user/link', 'work'),
  directory('/home/other', { uid: 1001, gid: 1001 }),
  directory('/root', { uid: 0, gid: 0, mode: 0o700 }),
  file('/root/file.txt', 'of root\n', { uid: 0, gid: 0 }),
  directory('/tmp', { uid: 0, gid: 0, mode: 0o1777 }),
  directory('/mnt/other', { uid: 0, gid: 0 }),
  file('/mnt/other/there.txt', 'on another file system\n'),
  directory('/scratch'),
  ...Object.entries(CONTENTS).map(([name, content]) => file(`/scratch/${name}`, content)),
  directory('/scratch/raw'),
  ...RAW_NAMES.map((name) => file(`/scratch/raw/${name}`, 'raw')),
  directory('/scratch/dir'),
  file('/scratch/dir/a', 'a'),
  file('/scratch/dir/B', 'B'),
  file('/scratch/dir/a.b', 'a.b'),
  directory('/scratch/dir/sub'),
  file('/scratch/dir/sub/c', 'c'),
  directory('/scratch/dir/sub/deeper'),
  file('/scratch/dir/sub/deeper/d', 'd'),
  file('/scratch/dir/sub-', 'after sub in byte order'),
  link('/scratch/dir/up', '..'),
  directory('/scratch/empty-dir'),
  directory('/scratch/closed', { uid: 0, gid: 0, mode: 0o000 }),
  file('/scratch/closed/inside', 'x', { uid: 0, gid: 0 }),
  file('/scratch/secret', 'secret', { uid: 0, gid: 0, mode: 0o600 }),
  file('/scratch/readonly', 'readonly', { mode: 0o444 }),
  file('/scratch/setuid', '#!', { mode: 0o4755 }),
  file('/scratch/setgid', '#!', { mode: 0o2755 }),
  directory('/scratch/setgid-dir', { mode: 0o2775 }),
  directory('/scratch/sticky-dir', { uid: 0, gid: 0, mode: 0o1777 }),
  file('/scratch/all-bits', '#!', { mode: 0o7777 }),
  file('/scratch/strangers', 'x', { uid: 4242, gid: 4343 }),
  file('/scratch/before-epoch', 'x', { mtimeSeconds: -1.5 }),
  file('/scratch/epoch', 'x', { mtimeSeconds: 0 }),
  file('/scratch/later', 'x', { mtimeSeconds: 4_102_444_800.25 }),
  file('/scratch/meta', 'x', { attributes: { 'user.e2b.key': 'value', 'user.e2b.other': '', 'user.own': 'kept' } }),
  file('/scratch/meta-raw', 'x', { attributes: { 'user.e2b.bad': '\xff', 'user.e2b.good': 'yes', 'user.e2b.caf\xe9': 'x' } }),
  link('/scratch/to-file', 'file.txt'),
  link('/scratch/to-file-absolute', '/scratch/file.txt'),
  link('/scratch/to-dir', 'dir'),
  link('/scratch/to-dir-slash', 'dir/'),
  link('/scratch/to-meta', 'meta'),
  link('/scratch/to-link', 'to-file'),
  link('/scratch/to-fifo', 'fifo'),
  link('/scratch/broken', 'missing'),
  link('/scratch/broken-deep', 'missing/child'),
  link('/scratch/below-file', 'file.txt/child'),
  link('/scratch/loop-a', 'loop-b'),
  link('/scratch/loop-b', 'loop-a'),
  link('/scratch/self', 'self'),
  link('/scratch/into-self', 'into-self/x'),
  link('/scratch/to-raw', 'raw/caf\xe9.txt'),
  link('/scratch/to-root', '/'),
  directory('/scratch/chain'),
  ...chain(60),
  { path: '/scratch/hard', kind: 'hardLink', target: '/scratch/dir/a' },
  { path: '/scratch/fifo', kind: 'fifo' },
  { path: '/scratch/socket', kind: 'socket' },
  { path: '/scratch/null', kind: 'character', mode: 0o666 },
  { path: '/scratch/block', kind: 'block', mode: 0o660 },
]
