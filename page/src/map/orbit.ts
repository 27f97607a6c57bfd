/** Orbit: from where space is seen, as angles about its middle. */

export interface Orbit {
  readonly azimuth: number; // radians about the third axis, from the first one
  readonly elevation: number; // radians above the plane of the first two
}

export const FRONT: Orbit = { azimuth: -Math.PI / 3, elevation: Math.PI / 7 };

/** Seen from farther to the right, and from farther up, by some radians. */
export const turned = ({ azimuth, elevation }: Orbit, right: number, up: number): Orbit => ({
  azimuth: Math.atan2(Math.sin(azimuth + right), Math.cos(azimuth + right)),
  elevation: Math.min(Math.PI / 2, Math.max(-Math.PI / 2, elevation + up)),
});
