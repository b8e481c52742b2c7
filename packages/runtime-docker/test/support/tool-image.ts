import type Docker from 'dockerode'
import { buildImage } from '../../src/images/base-image.ts'
import { contextHash } from '../../src/images/build-context.ts'
import { imageExists } from '../../src/images/image-exists.ts'

const DOCKERFILE = `
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \\
    sudo nftables iptables iproute2 util-linux libcap2-bin && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --shell /bin/bash --uid 1000 user && echo 'user ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/user
`

/** An image with everything that root would need to change rules, and with sudo. Made once on an engine. */
export async function ensureToolImage(docker: Docker): Promise<string> {
  const context = [{ name: 'Dockerfile', bytes: Buffer.from(DOCKERFILE) }]
  const image = `sandyard/test-tools:${contextHash(context)}`
  if (await imageExists(docker, image)) return image
  await buildImage(docker, { context, image, progress: { step: () => undefined, detail: () => undefined } })
  return image
}
