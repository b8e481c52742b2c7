import type Docker from 'dockerode'
import { buildImage } from '../../src/images/base-image.ts'
import { contextHash, packContext } from '../../src/images/build-context.ts'
import { imageExists } from '../../src/engine/image-exists.ts'

const TOOLS = `
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    sudo nftables iptables iproute2 procps util-linux libcap2-bin && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --shell /bin/bash --uid 1000 user && echo 'user ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/user
`

/** Builds an image from the text of a Dockerfile. It stays on the engine, so the next run uses it again. */
export async function buildTestImage(docker: Docker, name: string, dockerfile: string): Promise<string> {
  const context = [{ name: 'Dockerfile', bytes: Buffer.from(dockerfile) }]
  const image = `sandyard/test-${name}:${contextHash(context)}`
  if (await imageExists(docker, image)) return image
  await buildImage(docker, { context: packContext(context), image, progress: { step: () => undefined, detail: () => undefined } })
  return image
}

/** An image with all tools that root would need to change rules, and with sudo. */
export function ensureToolImage(docker: Docker): Promise<string> {
  return buildTestImage(docker, 'tools', TOOLS)
}
