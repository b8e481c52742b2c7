import { describe, expect, it } from 'vitest'
import { parseDockerfile, parseList } from './parse-dockerfile.ts'

const parse = (source: string): (readonly [number, string, string])[] =>
  parseDockerfile(source).map(({ line, keyword, text }) => [line, keyword, text] as const)

describe('parseDockerfile', () => {
  it('joins the lines of an instruction, without the comments and empty lines between them', () => {
    expect(parse('# syntax=docker/dockerfile:1\nfrom a\n\nRUN one && \\\n  # why\n\n  two\nUSER x\n')).toEqual([
      [2, 'FROM', 'a'],
      [4, 'RUN', 'one &&   two'],
      [8, 'USER', 'x'],
    ])
  })

  it('takes what only looks like a directive, a continued line or a document in the Dockerfile', () => {
    expect(parse('FROM a\n# escape = x\nRUN echo \\\\\nRUN echo $((1<<2)) "a <<EOF" && cat <<< hello')).toEqual([
      [1, 'FROM', 'a'],
      [3, 'RUN', 'echo \\\\'],
      [4, 'RUN', 'echo $((1<<2)) "a <<EOF" && cat <<< hello'],
    ])
  })

  it('reads the flags of COPY and FROM', () => {
    const [from, copy] = parseDockerfile('FROM --platform=linux/amd64 a AS b\nCOPY --from=b --chown=1:2 --chmod=755 x y /z/')
    expect(Object.fromEntries(from?.flags ?? [])).toEqual({ platform: 'linux/amd64' })
    expect([Object.fromEntries(copy?.flags ?? []), copy?.text]).toEqual([{ from: 'b', chown: '1:2', chmod: '755' }, 'x y /z/'])
  })

  it.each([
    ['FROM a\nADD x /', 'Dockerfile line 2: the instruction ADD is not supported'],
    ['FROM a\n\nVOLUME /x', 'Dockerfile line 3: the instruction VOLUME is not supported'],
    ['FROM a\nRUN --mount=type=cache,target=/x true', 'Dockerfile line 2: RUN --mount is not supported'],
    ['FROM a\nCOPY --link x /', 'Dockerfile line 2: COPY --link is not supported'],
    ['FROM a\nRUN <<EOF\ntrue\nEOF', 'Dockerfile line 2: documents in the Dockerfile (<<EOF) are not supported'],
    ['# escape=`\nFROM a', 'Dockerfile: the escape character ` is not supported'],
    ['FROM a\nUSER', 'Dockerfile line 2: USER needs an argument'],
  ])('refuses %j with its line', (source, message) => {
    expect(() => parseDockerfile(source)).toThrow(message)
  })
})

describe('parseList', () => {
  it('reads the JSON form, and nothing else', () => {
    expect(parseList('["a", "b c"]')).toEqual(['a', 'b c'])
    expect([parseList('[ -f x ]'), parseList('["a", 1]'), parseList('a b')]).toEqual([undefined, undefined, undefined])
  })
})
