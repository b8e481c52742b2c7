import { describe, expect, it } from 'vitest'
import { checkDockerfile } from './check-dockerfile.ts'

const FROM = 'FROM debian:bookworm-slim\n'

describe('checkDockerfile takes', () => {
  it.each<[string, string]>([
    ['the least', 'FROM scratch'],
    [
      'stages, arguments and everything that needs no context',
      `ARG TAG=1\nFROM a:\${TAG} AS build\nARG X\nENV A=1 B="two"\nRUN make\nFROM --platform=linux/amd64 b\nCOPY --from=build --chown=1:2 /a /b\nCOPY --from=0 ["/a", "/b"]\nCOPY --from=busybox:1 /bin/sh /sh\nLABEL a=b\nEXPOSE 80\nVOLUME /v\nUSER x\nWORKDIR /w\nSHELL ["/bin/sh", "-c"]\nSTOPSIGNAL 9\nHEALTHCHECK --interval=5s CMD true\nMAINTAINER me\nENTRYPOINT ["a"]\nCMD ["b"]\nONBUILD RUN true`,
    ],
    [
      'comments, blank lines and continuations',
      '\uFEFF# check=skip=all\n# a comment\n\n  FROM a \r\n# b\nRUN x \\ \t\n   # within\n\n\t y \\\n  z\n\nRUN last \\\n',
    ],
    ['another escape character', '# escape=`\nFROM a\nRUN dir `\n  c:\\\nRUN x'],
    ['a line that ends in two escape characters, which go on nowhere', `${FROM}RUN echo \\\\\nRUN x`],
    ['the common first line', '# syntax=docker/dockerfile:1\nFROM a'],
    ['keywords in lower case', 'from a\nrun true'],
    ['words that look like flags or here-documents', `${FROM}RUN echo --mount=x "a <<EOF b" '<<X' $((1<<2)) && cat <<< hello`],
    ['names that begin like instructions', `${FROM}RUN true && \\\n  add x\nRUN \\\n  copy a b`],
  ])('%s', (_name, text) => expect(() => checkDockerfile(text)).not.toThrow())
})

describe('checkDockerfile refuses', () => {
  it.each<[string, RegExp]>([
    ['', /^Dockerfile: it is empty$/],
    [' \n\t', /^Dockerfile: it is empty$/],
    ['# only a comment', /^Dockerfile: there is no FROM$/],
    ['ARG A', /^Dockerfile: there is no FROM$/],
    ['RUN x\nFROM a', /^Dockerfile line 1: FROM must come before RUN$/],
    [`${FROM}FROM`, /^Dockerfile line 2: FROM needs arguments$/],
    [`${FROM}\nNOPE x`, /^Dockerfile line 3: unknown instruction: NOPE$/],
    [`${FROM}RUN x\n&& y`, /^Dockerfile line 3: unknown instruction: &&$/],
    [`${FROM}A\u00a0DD x y`, /^Dockerfile line 2: unknown instruction: /],
    [`${FROM}COPY . /app`, /^Dockerfile line 2: COPY has no build context/],
    [`${FROM}# c\nRUN a \\\n b\ncopy \\\n  --chown=a:b . /app`, /^Dockerfile line 5: COPY has no build context/],
    [`${FROM}COPY ["a", "b"]`, /^Dockerfile line 2: COPY has no build context/],
    [`${FROM}COPY --from= a b`, /^Dockerfile line 2: COPY has no build context/],
    [`${FROM}COPY a --from=x b`, /^Dockerfile line 2: COPY has no build context/],
    [`${FROM}COPY --chown=--from=x a b`, /^Dockerfile line 2: COPY has no build context/],
    [`${FROM}ONBUILD COPY . /`, /^Dockerfile line 2: COPY has no build context/],
    [`${FROM}ADD a.tar /`, /^Dockerfile line 2: ADD has no build context/],
    [`${FROM}ADD http://169.254.169.254/latest /x`, /^Dockerfile line 2: ADD of a URL is not supported/],
    [`${FROM}ADD ["https://a", "/x"]`, /^Dockerfile line 2: ADD of a URL is not supported/],
    [`${FROM}ADD --checksum=sha256:x https://a /x`, /^Dockerfile line 2: ADD of a URL is not supported/],
    [`${FROM}A\\\nDD http://a /x`, /^Dockerfile line 2: ADD of a URL is not supported/],
    [`${FROM}RUN a \\\n   # c\nADD http://a /x\nADD http://a /x`, /^Dockerfile line 5: ADD of a URL is not supported/],
    [`${FROM}onbuild \\\n add http://a /x`, /^Dockerfile line 2: ADD of a URL is not supported/],
    [`${FROM}ONBUILD onbuild RUN x`, /^Dockerfile line 2: ONBUILD cannot have ONBUILD/],
    [`${FROM}${'ONBUILD '.repeat(7000)}RUN x`, /^Dockerfile line 2: ONBUILD cannot have ONBUILD/],
    [`${FROM}WORKDIR /proc/self/fd/7`, /^Dockerfile line 2: WORKDIR: a working directory cannot be in \/proc, \/sys or \/dev$/],
    [`${FROM}WORKDIR "/dev"/fd/7`, /^Dockerfile line 2: WORKDIR: a working directory cannot/],
    [`${FROM}ONBUILD WORKDIR /srv/../sys`, /^Dockerfile line 2: WORKDIR: a working directory cannot/],
    [`${FROM}RUN <<EOF\necho\nEOF`, /^Dockerfile line 2: here-documents need BuildKit/],
    [`${FROM}RUN cat <<-'END' > x\nEND`, /^Dockerfile line 2: here-documents need BuildKit/],
    [`${FROM}COPY <<A /x\nA`, /^Dockerfile line 2: here-documents need BuildKit/],
    [`${FROM}RUN --mount=type=cache,target=/c x`, /^Dockerfile line 2: RUN --mount needs BuildKit/],
    [`${FROM}RUN --network=none x`, /^Dockerfile line 2: RUN --network needs BuildKit/],
    [`${FROM}RUN --security=insecure x`, /^Dockerfile line 2: RUN --security needs BuildKit/],
    [`${FROM}COPY --from=a --link b c`, /^Dockerfile line 2: COPY --link needs BuildKit/],
    [`${FROM}COPY --from=a --chmod=755 b c`, /^Dockerfile line 2: COPY --chmod needs BuildKit/],
    [`${FROM}COPY --parents --from=a b c`, /^Dockerfile line 2: COPY --parents needs BuildKit/],
    [`# syntax=docker/dockerfile:1-labs\n${FROM}`, /^Dockerfile line 1: this syntax directive asks for a frontend of BuildKit/],
    [`# escape=x\n${FROM}`, /^Dockerfile line 1: the escape directive must be/],
    [`${FROM}RUN ${'x'.repeat(70_000)}`, /^Dockerfile line 2: the instruction is longer/],
    [`FROM a\n${'# x\n'.repeat(10_000)}`, /^Dockerfile: it has more than 10000 lines$/],
    [`FROM a\n${'RUN x\n'.repeat(1001)}`, /^Dockerfile: it has more than 1000 instructions$/],
    [`FROM a\n# ${'x'.repeat(300_000)}`, /^Dockerfile: it is larger than 256 KiB$/],
  ])('%j', (text, message) => {
    expect(() => checkDockerfile(text)).toThrow(
      expect.objectContaining({ kind: 'invalid_argument', message: expect.stringMatching(message) }),
    )
  })
})

describe('checkDockerfile reads in one pass', () => {
  // With patterns that go back, each of these takes longer than a test may.
  it.each<[string, string]>([
    ['escaped quotes', `${FROM}${`RUN ${'\\"'.repeat(29_000)}\n`.repeat(4)}`],
    ['open quotes after here-documents', `${FROM}${`RUN ${`<<1'" `.repeat(9000)}\n`.repeat(4)}`],
    ['spaces in a directive', `# escape=\\${' '.repeat(250_000)}x\n${FROM}`],
  ])('%s', (_name, text) => {
    for (let round = 0; round < 8; round += 1) {
      try {
        checkDockerfile(text)
      } catch (err) {
        expect(err).toMatchObject({ kind: 'invalid_argument' })
      }
    }
  })
})
