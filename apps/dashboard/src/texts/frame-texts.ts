/** The texts of the frame: header, navigation, messages that every screen has. */
export const frameTexts = {
  title: 'Sandyard',
}
