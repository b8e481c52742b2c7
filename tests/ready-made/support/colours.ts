import type { Browser } from 'playwright-core'

interface Picture {
  readonly width: number
  readonly height: number
  /** Different colours, at 16 steps for each of red, green and blue: an empty screen has one. */
  readonly colours: number
}

/** Runs in the browser, whose types this program does not have. */
const COUNT = `async (source) => {
  const image = await createImageBitmap(await (await fetch(source)).blob())
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, image.width, image.height)
  const seen = new Set()
  for (let at = 0; at < data.length; at += 4) seen.add(((data[at] >> 4) << 8) | ((data[at + 1] >> 4) << 4) | (data[at + 2] >> 4))
  return { width: image.width, height: image.height, colours: seen.size }
}`

/** Decodes a PNG in the browser. */
export async function coloursOf(browser: Browser, png: Buffer): Promise<Picture> {
  const page = await browser.newPage()
  try {
    return await page.evaluate(`(${COUNT})(${JSON.stringify(`data:image/png;base64,${png.toString('base64')}`)})`)
  } finally {
    await page.close()
  }
}
