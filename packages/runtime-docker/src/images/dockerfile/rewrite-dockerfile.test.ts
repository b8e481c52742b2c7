import { describe, expect, it } from 'vitest'
import { logicalLines } from './logical-lines.ts'
import { rewriteDockerfile } from './rewrite-dockerfile.ts'

const IMAGE_ENV = ['PATH=/usr/local/bin:/usr/bin:/bin', `LARGE=${'x'.repeat(100_000)}`]
const doubling = (count: number, line: (n: number) => string): string => Array.from({ length: count }, (_, n) => line(n)).join('\n')
const TRIGGERS: Readonly<Record<string, string[]>> = {
  doubling: doubling(30, (n) => `ENV V${n + 1}=$V${n}$V${n}`).split('\n'),
  leaking: ['WORKDIR proc', 'WORKDIR self/fd/7'],
}
const WORKDIRS: Readonly<Record<string, string>> = { app: '/app', rooted: '/' }

/** The rewritten file, in which an image `x` is `<x>`. */
async function rewrite(dockerfile: string): Promise<string[]> {
  const resolve = async (reference: string) => ({
    id: `<${reference}>`,
    env: [...IMAGE_ENV, 'DEEP=self/fd'],
    workdir: WORKDIRS[reference],
    triggers: TRIGGERS[reference] ?? [],
  })
  const { text, shown } = await rewriteDockerfile(dockerfile, { resolve, labels: { l: 'v' } })
  const lines = text.trimEnd().split('\n')
  expect(lines.filter((line) => !line.startsWith('#'))).toHaveLength(shown.length)
  return lines.filter((line) => line !== 'LABEL l="v"')
}

describe('the lines of a Dockerfile', () => {
  it.for<[string, string, string[]]>([
    ['continuation', 'RUN a \\\n  b \\ \t\n c', ['RUN a   b  c']],
    ['comments and empty lines inside', 'run a \\\n# no\n\n   # no\n b\n#no', ['RUN a  b']],
    ['a doubled escape at the end', 'RUN a \\\\\nRUN b', ['RUN a \\\\', 'RUN b']],
    ['an escape of its own', '# escape = `\nRUN a `\n b\\\nRUN c', ['RUN a  b\\', 'RUN c']],
    ['a directive after a comment is a comment', '# hello\n# escape=`\nRUN a \\\nb', ['RUN a b']],
    ['carriage returns and a byte order mark', '\uFEFFFROM a\r\nRUN b \\\r\n c\r\n', ['FROM a', 'RUN b  c']],
    ['an end inside', 'RUN a \\', ['RUN a']],
    ['nothing', '\n# x\n', []],
  ])('%s', ([, dockerfile, expected]) => {
    expect(logicalLines(dockerfile).lines.map(({ instruction, rest }) => `${instruction} ${rest}`.trim())).toEqual(expected)
  })
})

describe('the variables of a Dockerfile', () => {
  it.for<[string, string]>([
    ['arguments before FROM', `ARG V0=x\n${doubling(30, (n) => `ARG V${n + 1}=$V${n}$V${n}`)}\nFROM a:$V30`],
    ['ENV', `FROM a\nENV V0=x\n${doubling(30, (n) => `ENV V${n + 1}=$V${n}\${V${n}:-y}`)}`],
    ['ENV of one name', `FROM a\nENV V=x\n${doubling(30, () => 'ENV V="$V$V"')}`],
    ['ENV in its old form', `FROM a\nENV V x\n${doubling(30, () => 'ENV V $V $V')}`],
    ['ENV with escapes in its names', `FROM a\nENV VW=x\n${doubling(30, () => 'ENV V\\W=$VW$VW')}`],
    ['ENV with quotes in its names', `FROM a\nENV VW=x\n${doubling(30, () => `ENV V"W"=$VW$VW`)}`],
    ['two variables that contain each other', `FROM a\nENV A=x B=x\n${doubling(30, () => 'ENV A=$A$B B=$B$A')}`],
    ['stages', `FROM a AS s0\nENV V=x\n${doubling(30, (n) => `FROM s${n} AS s${n + 1}\nENV V=$V$V`)}`],
    ['a variable of the image', 'FROM a\nLABEL a=$LARGE$LARGE$LARGE'],
    ['many labels', `FROM a\n${doubling(90, () => 'LABEL a=$LARGE')}`],
    ['triggers of the image', 'FROM doubling\nFROM doubling\nENV V0=$PATH\nFROM doubling'],
  ])('are refused when their size doubles with each line: %s', async ([, dockerfile]) => {
    await expect(rewrite(dockerfile)).rejects.toMatchObject({
      kind: 'failed_precondition',
      message: expect.stringContaining('it becomes too large with the values of its variables'),
    })
  })

  it('may be many, long and quoted', async () => {
    const lines = doubling(300, (n) => `ENV PATH="/opt/tool-${n}/bin:$PATH" TOOL_${n}=/opt/tool-${n} OLD_${n}="$PATH"`)
    expect(await rewrite(`FROM a\nENV HOME=/root\nENV NAME value of $HOME\n${lines}`)).toHaveLength(303)
  })
})

describe('the rewritten Dockerfile', () => {
  it.for<[string, string[]]>([
    ['FROM debian', ['FROM <debian>']],
    ['FROM --platform=linux/amd64 debian:12 as One', ['FROM --platform=linux/amd64 <debian:12> AS One']],
    ['FROM a AS one\nFROM ONE\nFROM scratch', ['FROM <a> AS one', 'FROM ONE', 'FROM scratch']],
    ['ARG A=1 B="2 3"\nARG C=${A}x\nFROM a:$C', ['ARG A=1 B="2 3"', 'ARG C=${A}x', 'FROM <a:1x>']],
    ['FROM a:${X:-y}\nFROM "b:${X:+z}c"', ['FROM <a:y>', 'FROM <b:c>']],
    ['FROM a AS one\nCOPY --from=one / /', ['FROM <a> AS one', 'COPY --from=<one> / /']],
    ['FROM a AS one\nFROM b\nCOPY --chown=1 --from=One /a  /b', ['FROM <a> AS one', 'FROM <b>', 'COPY --chown=1 --from=One /a  /b']],
    ['FROM a\nCOPY --from=b:c ["/x  y", "/z"]', ['FROM <a>', 'COPY --from=<b:c> ["/x  y", "/z"]']],
    ['FROM a\nCOPY --from=0 x y', ['FROM <a>', 'COPY --from=0 x y']],
    ['FROM a\nONBUILD RUN x', ['FROM <a>', 'ONBUILD RUN x']],
    ['# escape=`\nFROM a\nRUN x `\n y', ['# escape=`', 'FROM <a>', 'RUN x  y']],
    ['FROM app\nWORKDIR src\nWORKDIR ../x', ['FROM <app>', 'WORKDIR /app/src', 'WORKDIR /app/x']],
    ['FROM a\nENV A=/srv B="$A"\nENV C ${A}/c d\nWORKDIR $C/$B', ['FROM <a>', 'ENV A=/srv B="$A"', 'ENV C ${A}/c d', 'WORKDIR /srv/c d']],
    [
      'ARG V=1\nFROM a AS b\nARG V\nARG W=w\nENV W=e\nWORKDIR /$V$W\nFROM b\nWORKDIR x$V',
      ['ARG V=1', 'FROM <a> AS b', 'ARG V', 'ARG W=w', 'ENV W=e', 'WORKDIR /1e', 'FROM b', 'WORKDIR /1e/x'],
    ],
    ["FROM a\nWORKDIR '/my $dir'/a\\ b\nWORKDIR ${NO:-/no}/${A:+x}", ['FROM <a>', 'WORKDIR /my \\$dir/a b', 'WORKDIR /no']],
    ['# escape=`\nFROM a\nWORKDIR /c:\\x', ['# escape=`', 'FROM <a>', 'WORKDIR /c:`\\x']],
    ['FROM a\nWORKDIR /dev/shm', ['FROM <a>', 'WORKDIR /dev/shm']],
  ])('%j', async ([dockerfile, expected]) => {
    expect(await rewrite(dockerfile)).toEqual(expected)
  })

  it.for([
    'FROM',
    'FROM a b',
    'FROM a AS',
    'FROM a AS b c',
    'FROM a AS "b',
    'FROM --from=x a',
    'FROM --platform="x a" b',
    'FROM $NOTHING',
    'FROM a:${X#y}',
    'FROM a\nADD x y',
    'FROM a\nadd --chown=1 https://x.example/y /z',
    'FROM a\nCOPY --fr\\om=x / /',
    'FROM a\nCOPY --fr"om"=x / /',
    'FROM a\nONBUILD COPY --from=x / /',
    'FROM a\nONBUILD ONBUILD RUN x',
    'FROM a\nRUN x \\\u00A0\nFROM b',
    '\u0085FROM a',
    `FROM a\nRUN ${'x'.repeat(61_000)}`,
    'FROM a\nWORKDIR /proc/self/fd/7',
    'FROM rooted\nWORKDIR proc/self/fd/7',
    'FROM a\nWORKDIR /srv\nWORKDIR ../proc/self/cwd',
    'FROM a\nWORKDIR //proc/1/root',
    'FROM a\nWORKDIR /dev/fd/8',
    'FROM a\nWORKDIR "/pro"\'c/self/fd/8\'',
    'FROM a\nWORKDIR /pro\\c/self/fd/8',
    'FROM a\nENV A=/pr B=oc\nENV C $A$B\nWORKDIR $C/$DEEP/8',
    'ARG X=/proc\nFROM a\nARG X\nWORKDIR ${X}/self',
    'FROM a AS b\nENV A=/proc\nFROM b\nWORKDIR $A/self',
    'FROM a\nWORKDIR ${NO:-/proc/self/fd/8}',
    'FROM a\nWORKDIR ${DEEP#x}',
    'FROM a\nENV X=${DEEP%x}\nWORKDIR /a/$X',
    'FROM a\nWORKDIR $NOTHING',
    'FROM leaking',
    'FROM a\nONBUILD WORKDIR $X',
    'FROM a\nONBUILD WORKDIR "/a"',
  ])('refuses %j', async (dockerfile) => {
    await expect(rewrite(dockerfile)).rejects.toMatchObject({ kind: 'failed_precondition' })
  })

  it('separates flags at NEL, as the engine does', async () => {
    expect(await rewrite('FROM a\nCOPY --chown=1\u0085--from=x / /')).toEqual(['FROM <a>', 'COPY --chown=1 --from=<x> / /'])
  })
})
