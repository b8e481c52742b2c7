import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { beforeEach, describe, expect, it } from 'vitest'
import { useDaemon } from './support/daemon-fixture.ts'
import { type TestDaemon } from './support/test-daemon.ts'
import { pollDirectory } from './support/watch.ts'

const run = promisify(execFile)

const fixture = useDaemon()
let daemon: TestDaemon
/** The watched directory; its parent is not watched. */
let dir: string

beforeEach(async () => {
  ;({ daemon } = fixture)
  dir = join(fixture.dir, 'w')
  await mkdir(dir)
})

const sh = (script: string, cwd = dir) => run('/bin/sh', ['-c', script], { cwd })
const EXCHANGE = `python3 -c "import ctypes; ctypes.CDLL(None).renameat2(-100, b'd', -100, b'e', 2)"`

/** Preparation, then steps with their expected events: those of the watched directory, and additional ones of a recursive watch. */
const ACTIONS: [what: string, before: string, steps: [action: string, single: string, more?: string][]][] = [
  [
    'create and write',
    '',
    [
      ['echo x > f', 'CREATE f,WRITE f'],
      ['echo y >> f', 'WRITE f'],
      ['truncate -s 0 f', 'WRITE f'],
    ],
  ],
  [
    'links and special files',
    'touch f',
    [
      ['ln f g', 'CREATE g'],
      ['ln -s f l', 'CREATE l'],
      ['mkfifo p', 'CREATE p'],
    ],
  ],
  [
    'attributes',
    'touch f',
    [
      ['chmod 600 f', 'CHMOD f'],
      ['chown 1:1 f', 'CHMOD f'],
      ['touch -d 2020-01-01 f', 'CHMOD f'],
    ],
  ],
  [
    'deletion',
    'touch f; ln f g',
    [
      ['rm f', 'REMOVE f', ''],
      ['rm g', 'REMOVE g'],
    ],
  ],
  [
    'rename, over another file, out and in',
    'touch f; touch g',
    [
      ['mv f e', 'RENAME f,CREATE e'],
      ['mv e g', 'RENAME e,CREATE g'],
      ['mv g ..', 'RENAME g'],
      ['mv ../g .', 'CREATE g'],
    ],
  ],
  [
    'a file that is created and removed twice',
    '',
    [['touch f; rm f; touch f; rm f', 'CREATE f,CHMOD f,REMOVE f,CREATE f,CHMOD f,REMOVE f']],
  ],
  [
    'the root',
    '',
    [
      ['chmod 700 .', 'CHMOD .'],
      ['touch -d 2020-01-01 .', 'CHMOD .'],
      ['rmdir ../w', 'REMOVE .'],
    ],
  ],
  ['a file that is written after its removal', 'echo x > f', [['exec 3>>f; rm f; echo y >&3', 'REMOVE f,WRITE f']]],
  ['names of all kinds', '', [[`: > 'a b'; : > 'ü'; : > "$(printf 'b\\377d')"`, 'CREATE a b,CREATE ü,CREATE b\uFFFDd']]],
  [
    'a subdirectory',
    '',
    [
      ['mkdir d', 'CREATE d'],
      ['chmod 700 d', 'CHMOD d', 'CHMOD d'],
      ['rmdir d', 'REMOVE d'],
    ],
  ],
  [
    'a file in a subdirectory',
    'mkdir -p d/s',
    [
      ['echo x > d/s/f', '', 'CREATE d/s/f,WRITE d/s/f'],
      ['mv d/s/f .', 'CREATE f', 'RENAME d/s/f'],
    ],
  ],
  [
    'a new subdirectory',
    '',
    [
      ['mkdir d', 'CREATE d'],
      ['mkdir d/s', '', 'CREATE d/s'],
      [': > d/s/f', '', 'CREATE d/s/f'],
    ],
  ],
  [
    'a directory that moves inside the tree',
    'mkdir -p d/s e; touch d/s/f',
    [
      ['mv d e/g', 'RENAME d', 'CREATE e/g'],
      ['echo x >> e/g/s/f', '', 'WRITE e/g/s/f'],
      ['mv e h; mv h i', 'RENAME e,CREATE h,RENAME h,CREATE i'],
      ['rm i/g/s/f', '', 'REMOVE i/g/s/f'],
    ],
  ],
  [
    'a directory that moves out of the tree and back',
    'mkdir -p d/s',
    [
      ['mv d ..', 'RENAME d'],
      ['touch ../d/f ../d/s/f', ''],
      ['mv ../d e', 'CREATE e', 'CREATE e/f,CREATE e/s,CREATE e/s/f'],
      ['rm e/s/f', '', 'REMOVE e/s/f'],
    ],
  ],
  [
    'a directory that replaces an empty one',
    'mkdir d e',
    [
      ['mv -T d e', 'RENAME d,CREATE e'],
      [': > e/f', '', 'CREATE e/f'],
    ],
  ],
  [
    'directories that are exchanged',
    'mkdir -p d/s e/t',
    [
      [EXCHANGE, 'RENAME d,CREATE e,RENAME e,CREATE d'],
      [': > d/t/f; : > e/s/f', '', 'CREATE d/t/f,CREATE e/s/f'],
    ],
  ],
  [
    'a directory that is removed and created again',
    'mkdir d',
    [
      ['rmdir d', 'REMOVE d'],
      ['mkdir d', 'CREATE d'],
      [': > d/f', '', 'CREATE d/f'],
    ],
  ],
  [
    'a link to a directory',
    'mkdir d',
    [
      ['ln -s d l', 'CREATE l'],
      [': > l/f', '', 'CREATE d/f'],
      ['rm l', 'REMOVE l'],
    ],
  ],
]

describe('[filesystem.Filesystem/GetWatcherEvents] (envd.md 18.45, 18.46)', () => {
  it.for(ACTIONS)('%s', async ([, before, steps]) => {
    await sh(before)
    await using single = await pollDirectory(daemon, { path: dir })
    await using recursive = await pollDirectory(daemon, { path: dir, recursive: true })
    for (const [action, ofRoot, more = ''] of steps) {
      await sh(action)
      const [alone, all] = [split(ofRoot), split(more)]
      expect(merge(await single.take()), action).toEqual(alone)
      expect((await recursive.take()).toSorted(), action).toEqual([...alone, ...all].toSorted())
    }
  })

  it('describes entries at the moment of the report, and never removed ones (envd.md 18.47)', async () => {
    await sh('mkdir d; echo x > old; echo x > gone; echo x > occupied')
    await using watcher = await pollDirectory(daemon, { path: `${dir}/`, recursive: true, includeEntry: true })
    await sh('mv old new; rm occupied; mkdir occupied; rm gone; : > d/f; chmod 700 .')
    expect(await watcher.take()).toEqual([
      'RENAME old',
      `CREATE new ${dir}/new`,
      'REMOVE occupied',
      `CREATE occupied ${dir}/occupied`,
      'REMOVE gone',
      `CREATE d/f ${dir}/d/f`,
      `CHMOD . ${dir}`,
    ])
  })

  it('reports every file of deep trees that are created concurrently (envd.md 18.48)', async () => {
    await using watcher = await pollDirectory(daemon, { path: dir, recursive: true })
    const script = 'for i in $(seq 40); do mkdir -p $0/$i/a/b/c/d && touch $0/$i/f $0/$i/a/b/c/d/f && mv $0/$i/a $0/$i/z; done'
    await Promise.all(['p', 'q', 'r'].map((name) => run('/bin/sh', ['-c', script, name], { cwd: dir })))
    const seen = new Set(await watcher.take())
    const missing = ['p', 'q', 'r'].flatMap((name) =>
      Array.from({ length: 40 }, (_, index) => `${name}/${index + 1}`).filter(
        (at) => !seen.has(`CREATE ${at}/f`) || (!seen.has(`CREATE ${at}/z/b/c/d/f`) && !seen.has(`CREATE ${at}/a/b/c/d/f`)),
      ),
    )
    expect(missing).toEqual([])
    // Now every directory is watched at its current path.
    await sh('for f in */*/z/b/c/d/f; do rm $f; done')
    expect((await watcher.take()).filter((event) => /^REMOVE \w\/\d+\/z\/b\/c\/d\/f$/.test(event))).toHaveLength(120)
  })

  it('continues when directories are removed before they are scanned', async () => {
    await using watcher = await pollDirectory(daemon, { path: dir, recursive: true })
    await sh('for i in $(seq 200); do mkdir -p d/e/f; rm -r d; done')
    await writeFile(join(dir, 'last'), '')
    const events = await pollUntil({ what: 'the last event', timeoutMs: 20_000, everyMs: 5 }, () => watcher.take())
    expect(events.at(-1)).toBe('CREATE last')
    expect(events.filter((event) => event === 'CREATE d')).toHaveLength(200)
  })
})

function split(events: string): string[] {
  return events === '' ? [] : events.split(',')
}

/** Merges equal neighbours: a change of a file with two names causes two equal events. */
function merge(events: readonly string[]): string[] {
  return events.filter((event, index) => event !== events[index - 1])
}
