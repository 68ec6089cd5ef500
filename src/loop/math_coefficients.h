// Written by tools/minimax/minimax.py; change that instead.
// Polynomials are listed from the constant term on, with the base-2 logarithm of their largest relative error.
// clang-format off
#pragma once

#include <cstdint>

namespace lucid::loop::math {

// log(2) in two parts, the first short enough that its product with an exponent is exact
inline constexpr double kLn2Hi = 0x1.62e42fefa38p-1;
inline constexpr double kLn2Lo = 0x1.ef35793c7673p-45;
// the same for f32
inline constexpr double kLn2HiF32 = 0x1.62e4p-1;
inline constexpr double kLn2LoF32 = 0x1.7f7d1cp-20;
// 1 / log(2), and what its rounding leaves
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLog2ELo = 0x1.777d0ffda0d24p-56;
// 1 / log(10), and what its rounding leaves
inline constexpr double kLog10E = 0x1.bcb7b1526e50ep-2;
inline constexpr double kLog10ELo = 0x1.95355baaafad3p-57;
// log10(2), and what its rounding leaves
inline constexpr double kLog10Of2 = 0x1.34413509f79ffp-2;
inline constexpr double kLog10Of2Lo = -0x1.9dc1da994fd21p-59;
// pi / 2, and what its rounding leaves
inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;
inline constexpr double kHalfPiLo = 0x1.1a62633145c07p-54;
inline constexpr double kHalfPiLowest = -0x1.f1976b7ed8fbcp-110;
// log10(2) in two parts, the first short
inline constexpr double kLog10Of2Hi = 0x1.34413509f78p-2;
inline constexpr double kLog10Of2Rest = 0x1.fef311f12b358p-46;

// exp(r) = 1 + r + r^2 P(r): 2^-25.8
inline constexpr double kExpF32[] = {
    0x1p-1, 0x1.555494p-3, 0x1.555434p-5, 0x1.123deep-7, 0x1.6e6d9ap-10,
};
// exp(r) = 1 + r + r^2 P(r): 2^-59.7
inline constexpr double kExp[] = {
    0x1p-1, 0x1.5555555555559p-3, 0x1.555555555553ep-5, 0x1.111111110f6a9p-7, 0x1.6c16c16c1f162p-10,
    0x1.a01a01afe9bd8p-13, 0x1.a01a017b95e3bp-16, 0x1.71ddf841c54d2p-19, 0x1.27e5366059c02p-22, 0x1.af5ee8b9b367p-26,
    0x1.1ee88720a8b9fp-29,
};
// exp(r) = 1 + r + r^2 P(r): 2^-37.5
inline constexpr double kExpShort[] = {
    0x1.00000000173dp-1, 0x1.555555737a29ep-3, 0x1.555554f2e6772p-5, 0x1.1110b1c984487p-7, 0x1.6c17677ff8fbcp-10,
    0x1.a170029b104ecp-13, 0x1.a00364f7c34cep-16,
};
// 2^r = 1 + r P(r): 2^-26.2
inline constexpr double kExp2F32[] = {
    0x1.62e432p-1, 0x1.ebfbep-3, 0x1.c6ae28p-5, 0x1.3b29e2p-7, 0x1.5f8a06p-10, 0x1.446d34p-13,
};
// 2^r = 1 + r P(r): 2^-55.6
inline constexpr double kExp2[] = {
    0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0dbp-5, 0x1.3b2ab6fba4e7dp-7, 0x1.5d87fe78a04c2p-10,
    0x1.430912f86a08dp-13, 0x1.ffcbfc7e79305p-17, 0x1.62c0224961aa8p-20, 0x1.b524ca2b2197dp-24,
    0x1.e4cef638c2fa7p-28, 0x1.ea1d13a160afap-32, 0x1.c4c957cc8dc8dp-36,
};
// 2^r = 1 + r P(r): 2^-39.2
inline constexpr double kExp2Short[] = {
    0x1.62e42fef6c636p-1, 0x1.ebfbdff81d0a6p-3, 0x1.c6b08e07dc5f9p-5, 0x1.3b2ab725a6783p-7, 0x1.5d8714c0648cfp-10,
    0x1.4308916b89e62p-13, 0x1.00f8400f64008p-16, 0x1.63f0340e4267fp-20,
};
// log(1 + f) = f - f^2 / 2 + f^3 P(f): 2^-27.3
inline constexpr double kLogF32[] = {
    0x1.555554p-2, -0x1.000228p-2, 0x1.99a036p-3, -0x1.54721ep-3, 0x1.22d5aep-3, -0x1.0d8224p-3, 0x1.057b44p-3,
    -0x1.39198p-4,
};
// log(1 + f) = f P(f): 2^-41.1
inline constexpr double kLogShort[] = {
    0x1.00000000004c5p+0, -0x1.ffffffffc482fp-2, 0x1.55555550d6542p-2, -0x1.000000439ea8ep-2, 0x1.99999f6a6448dp-3,
    -0x1.55552bd1041bp-3, 0x1.2490d2a4e234fp-3, -0x1.0004ea4ee3f12p-3, 0x1.c777dfe43aa11p-4, -0x1.99316a897eb95p-4,
    0x1.6ea81b214070fp-4, -0x1.53a205ebf29eap-4, 0x1.6615390771aa8p-4, -0x1.5eb1297d2633bp-4, 0x1.66c28d7932a1cp-5,
};
// log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2: 2^-65.5
inline constexpr double kLog[] = {
    0x1.5555555555555p-1, 0x1.9999999999d17p-2, 0x1.2492492438db5p-2, 0x1.c71c724c3b076p-3, 0x1.745ce185008fcp-3,
    0x1.3b202ffb0a774p-3, 0x1.0f664756b18fap-3, 0x1.0f1688c8bd955p-3,
};
// log(1 + r) = r - r^2 / 2 + r^3 P(r): 2^-69.5
inline constexpr double kLogTable[] = {
    0x1.5555555555555p-2, -0x1.0000000000067p-2, 0x1.9999999999b11p-3, -0x1.555555449c7f4p-3, 0x1.2492491005fe7p-3,
    -0x1.00068f7beb48bp-3, 0x1.c729cec2fcf33p-4,
};
// sin(r) = r + r z P(z), z = r^2: 2^-63.2
inline constexpr double kSin[] = {
    -0x1.5555555555555p-3, 0x1.1111111111069p-7, -0x1.a01a019ffe522p-13, 0x1.71de3a33a54dep-19,
    -0x1.ae642c51483b3p-26, 0x1.6109bd1d86ddap-33, -0x1.9ffd43d48e283p-41,
};
// sin(r) = r + r z P(z), z = r^2: 2^-37.5
inline constexpr double kSinShort[] = {
    -0x1.5555554c5fbap-3, 0x1.1111085d1badbp-7, -0x1.a00f74653045ep-13, 0x1.6ccf5dd31082ep-19,
};
// cos(r) = 1 - z / 2 + z^2 P(z), z = r^2: 2^-69.0
inline constexpr double kCos[] = {
    0x1.5555555555555p-5, -0x1.6c16c16c16b3p-10, 0x1.a01a019ffcb8ep-16, -0x1.27e4fb5a22d5ep-22, 0x1.1eed6f852adp-29,
    -0x1.93745a913e92p-37, 0x1.9db2b9c0f9029p-45,
};
// cos(r) = 1 - z / 2 + z^2 P(z), z = r^2: 2^-42.9
inline constexpr double kCosShort[] = {
    0x1.5555554ecbea3p-5, -0x1.6c16b81b95ff3p-10, 0x1.a010d55171f32p-16, -0x1.241ca855ea776p-22,
};
// asin(x) = x + x z P(z), z = x^2: 2^-63.8
inline constexpr double kAsin[] = {
    0x1.5555555555553p-3, 0x1.33333333339edp-4, 0x1.6db6db6d4beabp-5, 0x1.f1c71ca718202p-6, 0x1.6e8b9b1139313p-6,
    0x1.1c4f8338b1082p-6, 0x1.c9811981bb6b9p-7, 0x1.7ba24000aaf2ep-7, 0x1.36cf36bb91891p-7, 0x1.47d398055d314p-7,
    0x1.6de8d08ae324ep-11, 0x1.96417af8a777fp-6, -0x1.abddcb68ab453p-6, 0x1.1377ac8d27288p-5,
};
// asin(x) = x + x z P(z), z = x^2: 2^-39.9
inline constexpr double kAsinShort[] = {
    0x1.55555547d28e8p-3, 0x1.333340920604dp-4, 0x1.6db259b5008dbp-5, 0x1.f282112185fffp-6, 0x1.663f9ee768689p-6,
    0x1.52449cacb6407p-6, 0x1.036ff66742f61p-9, 0x1.0d9c8d28c814bp-5,
};
// atan(u) = u + u z P(z), z = u^2: 2^-65.9
inline constexpr double kAtan[] = {
    -0x1.5555555555555p-2, 0x1.9999999999888p-3, -0x1.2492492488b67p-3, 0x1.c71c71c1b8224p-4, -0x1.745d1660ef138p-4,
    0x1.3b1398e5a92cp-4, -0x1.110f52e5dc838p-4, 0x1.e1b59a7dccb9dp-5, -0x1.ad9dd3bc85338p-5, 0x1.7c770c5a91d1p-5,
    -0x1.3a8e5e4614ebbp-5, 0x1.9d0c2c83bf4p-6, -0x1.2712396579fbp-7,
};
// atan(u) = u + u z P(z), z = u^2: 2^-40.2
inline constexpr double kAtanShort[] = {
    -0x1.5555554eded74p-2, 0x1.999991fbc60c8p-3, -0x1.2490c2f8f1b13p-3, 0x1.c6d1e9e487e91p-4, -0x1.7082a8234a5ebp-4,
    0x1.1e5c05d91d7dap-4, -0x1.36ac6171a9394p-5,
};
// tanh(x) = x + x z P(z), z = x^2: 2^-27.7
inline constexpr double kTanhF32[] = {
    -0x1.555532p-2, 0x1.1106f6p-3, -0x1.b835a4p-5, 0x1.51f8cep-6, -0x1.750ce2p-8,
};
// tanh(x) = x + x z P(z), z = x^2: 2^-61.2
inline constexpr double kTanh[] = {
    -0x1.5555555555552p-2, 0x1.1111111110c52p-3, -0x1.ba1ba1b9d195dp-5, 0x1.664f4870c2f8ap-6, -0x1.226e32cf9371bp-7,
    0x1.d6d35a3775409p-9, -0x1.7d9c33043db2fp-10, 0x1.350b8710fcc28p-11, -0x1.f113477edcd69p-13,
    0x1.801b71c63b6bap-14, -0x1.fac52e7e440c9p-16, 0x1.9604bdce2661dp-18,
};
// sinh(r) = r + r z P(z), z = r^2: 2^-65.2
inline constexpr double kSinh[] = {
    0x1.5555555555555p-3, 0x1.1111111111387p-7, 0x1.a01a019ea0935p-13, 0x1.71de408107fc1p-19, 0x1.ae4cdae92f975p-26,
    0x1.82a22af30b99dp-33,
};
// sinh(r) = r + r z P(z), z = r^2: 2^-37.5
inline constexpr double kSinhShort[] = {
    0x1.5555557387e1ep-3, 0x1.1110b1b15f1d6p-7, 0x1.a1702773d5cdfp-13,
};
// cosh(r) = 1 + z P(z), z = r^2: 2^-73.0
inline constexpr double kCosh[] = {
    0x1p-1, 0x1.5555555555555p-5, 0x1.6c16c16c16fap-10, 0x1.a01a019e6802cp-16, 0x1.27e5017ff7003p-22,
    0x1.1ed948838328bp-29, 0x1.c7e2441cefee4p-37,
};
// cosh(r) = 1 + z P(z), z = r^2: 2^-45.9
inline constexpr double kCoshShort[] = {
    0x1.ffffffffee88fp-2, 0x1.55555581b19ep-5, 0x1.6c1635a0e6fc9p-10, 0x1.a174b875085e8p-16,
};
// erf(x) = x + x P(z), z = x^2: 2^-27.1
inline constexpr double kErfF32[] = {
    0x1.06eba8p-3, -0x1.812726p-2, 0x1.ce256ap-4, -0x1.b735eap-6, 0x1.4b763p-8, -0x1.4cd85ep-11,
};
// erf(x) = x + x P(z), z = x^2: 2^-56.3
inline constexpr double kErf[] = {
    0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2, 0x1.ce2f21a042be2p-4, -0x1.b82ce31288b47p-6, 0x1.565bcd0e6a2c6p-8,
    -0x1.c02db40035516p-11, 0x1.f9a326f79297cp-14, -0x1.f4d25bf6dfbbcp-17, 0x1.b9e6c357ab17dp-20,
    -0x1.5f73c0d0bd41bp-23, 0x1.fcbaf8b805a0fp-27, -0x1.517b6ac1545b7p-30, 0x1.9a032b7a3307p-34,
    -0x1.b3ce1f5d39e5dp-38, 0x1.3b6f7a6bfae49p-42,
};
// erf(x) = 1 - 2^P(x): 2^-28.8
inline constexpr double kErfTailF32[] = {
    -0x1.3c637ep-13, -0x1.a0a06ap+0, -0x1.d62bd6p-1, -0x1.34d5fp-3, 0x1.0a244ep-5, -0x1.26c9cep-8, 0x1.341f4p-12,
};
// erfc(x) = exp(-x^2) P(t) / (1 + 2 x), t = (x - 4) / (x + 4): 2^-54.1
inline constexpr double kErfc[] = {
    0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd7b7p-7, 0x1.16ecefcfa53a3p-4, -0x1.9ddb23c3e90cfp-4,
    0x1.7fee004e122e1p-4, -0x1.0fb06dfe4914p-4, 0x1.3079edf688c19p-5, -0x1.096238852f87ep-6, 0x1.49c67283fa22fp-8,
    -0x1.8d4a99b12b4c5p-11, -0x1.a1df23699c969p-13, 0x1.3be03644f7df6p-13, -0x1.99599594ea6fcp-16,
    -0x1.78827ee68ea2bp-17, 0x1.7f2d3b843ae7ep-18, 0x1.38b8d4ff0b5a5p-22, -0x1.bb6d15c892e1ap-21,
    0x1.5010832f8f4cfp-24, 0x1.de0015f56ab83p-24, -0x1.68f52028ff498p-26, -0x1.0b28733f44553p-26,
    0x1.bf8aebfd76153p-29, 0x1.1f4c12a992625p-29, -0x1.0ed60171e60bfp-32, -0x1.7314152a34b6ep-33,
};
// erfc(x) = exp(-x^2) P(t) / (1 + 2 x), t = (x - 4) / (x + 4): 2^-32.8
inline constexpr double kErfcShort[] = {
    0x1.3ba5916f2b374p+0, -0x1.1df1ad5c8d69ap-3, 0x1.f7f5aafc920e5p-7, 0x1.16ed0f34ffb47p-4, -0x1.9dda43e5fd55fp-4,
    0x1.7fec843778214p-4, -0x1.0fbbace283eb3p-4, 0x1.307bec2881455p-5, -0x1.0871f2cd80c7ep-6, 0x1.4d2c4cf182157p-8,
    -0x1.bec33f1df3ad4p-11, -0x1.8cb7284b313fbp-12, 0x1.49907dd271edap-14,
};

// 1 / (2 pi) in limbs of 27 bits, the first of them before the binary point
inline constexpr int64_t kInverseTwoPi[] = {
    0, 21361414, 115663937, 43318803, 90130388, 110868507, 56792473, 31595650, 8361048, 123190647, 72751986,
    37166369, 20401024, 13182429, 34197906, 15200495, 46607434, 55475665, 2318162, 123576898, 61239744, 81169391,
    104937873, 112315418, 80641319, 17350423, 64983683, 93322315, 134182934, 50462181, 118590298, 5466363, 55418803,
    105879059, 57996387, 129191727, 128497108, 83319037, 65401211, 31996367, 98735268, 97834998, 100340216,
    112100395, 835867, 126840181, 66113468, 17094561, 92760696, 119718589, 107065478,
};

// For 128 intervals from 0.6953125 up to its double: 1/c, exact, and log(c) in two parts
inline constexpr double kLogTableInverse[] = {
    0x1.7p+0, 0x1.6ep+0, 0x1.6cp+0, 0x1.6ap+0, 0x1.68p+0, 0x1.66p+0, 0x1.64p+0, 0x1.62p+0, 0x1.6p+0, 0x1.5ep+0,
    0x1.5cp+0, 0x1.5ap+0, 0x1.58p+0, 0x1.56p+0, 0x1.54p+0, 0x1.52p+0, 0x1.5p+0, 0x1.5p+0, 0x1.4ep+0, 0x1.4cp+0,
    0x1.4ap+0, 0x1.48p+0, 0x1.46p+0, 0x1.46p+0, 0x1.44p+0, 0x1.42p+0, 0x1.4p+0, 0x1.3ep+0, 0x1.3ep+0, 0x1.3cp+0,
    0x1.3ap+0, 0x1.38p+0, 0x1.38p+0, 0x1.36p+0, 0x1.34p+0, 0x1.32p+0, 0x1.32p+0, 0x1.3p+0, 0x1.2ep+0, 0x1.2ep+0,
    0x1.2cp+0, 0x1.2ap+0, 0x1.2ap+0, 0x1.28p+0, 0x1.26p+0, 0x1.26p+0, 0x1.24p+0, 0x1.22p+0, 0x1.22p+0, 0x1.2p+0,
    0x1.1ep+0, 0x1.1ep+0, 0x1.1cp+0, 0x1.1cp+0, 0x1.1ap+0, 0x1.18p+0, 0x1.18p+0, 0x1.16p+0, 0x1.16p+0, 0x1.14p+0,
    0x1.12p+0, 0x1.12p+0, 0x1.1p+0, 0x1.1p+0, 0x1.0ep+0, 0x1.0ep+0, 0x1.0cp+0, 0x1.0ap+0, 0x1.0ap+0, 0x1.08p+0,
    0x1.08p+0, 0x1.06p+0, 0x1.06p+0, 0x1.04p+0, 0x1.04p+0, 0x1.02p+0, 0x1.02p+0, 0x1p+0, 0x1p+0, 0x1.fap-1,
    0x1.f6p-1, 0x1.f2p-1, 0x1.eep-1, 0x1.eap-1, 0x1.e8p-1, 0x1.e4p-1, 0x1.ep-1, 0x1.dcp-1, 0x1.dap-1, 0x1.d6p-1,
    0x1.d2p-1, 0x1.dp-1, 0x1.ccp-1, 0x1.c8p-1, 0x1.c6p-1, 0x1.c2p-1, 0x1.cp-1, 0x1.bcp-1, 0x1.bap-1, 0x1.b6p-1,
    0x1.b4p-1, 0x1.bp-1, 0x1.aep-1, 0x1.aap-1, 0x1.a8p-1, 0x1.a6p-1, 0x1.a2p-1, 0x1.ap-1, 0x1.9ep-1, 0x1.9ap-1,
    0x1.98p-1, 0x1.96p-1, 0x1.94p-1, 0x1.9p-1, 0x1.8ep-1, 0x1.8cp-1, 0x1.8ap-1, 0x1.88p-1, 0x1.84p-1, 0x1.82p-1,
    0x1.8p-1, 0x1.7ep-1, 0x1.7cp-1, 0x1.7ap-1, 0x1.78p-1, 0x1.76p-1, 0x1.74p-1, 0x1.72p-1,
};
inline constexpr double kLogTableHi[] = {
    -0x1.739d7f6bbdp-2, -0x1.6e08eaa2bap-2, -0x1.686c81e9b1p-2, -0x1.62c82f2b9cp-2, -0x1.5d1bdbf581p-2,
    -0x1.5767717456p-2, -0x1.51aad872ep-2, -0x1.4be5f95778p-2, -0x1.4618bc21c6p-2, -0x1.404308686ap-2,
    -0x1.3a64c55694p-2, -0x1.347dd9a988p-2, -0x1.2e8e2bae12p-2, -0x1.2895a13de8p-2, -0x1.22941fbcf8p-2,
    -0x1.1c898c169ap-2, -0x1.1675cababap-2, -0x1.1675cababap-2, -0x1.1058bf9ae5p-2, -0x1.0a324e2739p-2,
    -0x1.0402594b4dp-2, -0x1.fb9186d5e4p-3, -0x1.ef0adcbdc6p-3, -0x1.ef0adcbdc6p-3, -0x1.e27076e2bp-3,
    -0x1.d5c216b4fcp-3, -0x1.c8ff7c79aap-3, -0x1.bc286742d8p-3, -0x1.bc286742d8p-3, -0x1.af3c94e80cp-3,
    -0x1.a23bc1fe2cp-3, -0x1.9525a9cf46p-3, -0x1.9525a9cf46p-3, -0x1.87fa06520cp-3, -0x1.7ab890210ep-3,
    -0x1.6d60fe719ep-3, -0x1.6d60fe719ep-3, -0x1.5ff3070a7ap-3, -0x1.526e5e3a1cp-3, -0x1.526e5e3a1cp-3,
    -0x1.44d2b6ccb8p-3, -0x1.371fc201e8p-3, -0x1.371fc201e8p-3, -0x1.29552f82p-3, -0x1.1b72ad52f6p-3,
    -0x1.1b72ad52f6p-3, -0x1.0d77e7cd08p-3, -0x1.fec9131dcp-4, -0x1.fec9131dcp-4, -0x1.e27076e2bp-4,
    -0x1.c5e548f5bcp-4, -0x1.c5e548f5bcp-4, -0x1.a926d3a4acp-4, -0x1.a926d3a4acp-4, -0x1.8c345d6318p-4,
    -0x1.6f0d28ae58p-4, -0x1.6f0d28ae58p-4, -0x1.51b073f06p-4, -0x1.51b073f06p-4, -0x1.341d7961bcp-4,
    -0x1.16536eea38p-4, -0x1.16536eea38p-4, -0x1.f0a30c0118p-5, -0x1.f0a30c0118p-5, -0x1.b42dd71198p-5,
    -0x1.b42dd71198p-5, -0x1.77458f633p-5, -0x1.39e87b9fe8p-5, -0x1.39e87b9fe8p-5, -0x1.f829b0e78p-6,
    -0x1.f829b0e78p-6, -0x1.7b91b07d6p-6, -0x1.7b91b07d6p-6, -0x1.fc0a8b0fcp-7, -0x1.fc0a8b0fcp-7, -0x1.fe02a6b1p-8,
    -0x1.fe02a6b1p-8, 0x0p+0, 0x0p+0, 0x1.82448a388p-7, 0x1.432a92598p-6, 0x1.c63d2ec15p-6, 0x1.252f32f8dp-5,
    0x1.67c94f2d48p-5, 0x1.894aa149f8p-5, 0x1.ccb73cddd8p-5, 0x1.08598b59e4p-4, 0x1.2aa04a447p-4, 0x1.3bdf5a7d2p-4,
    0x1.5e95a4d978p-4, 0x1.8197e2f41p-4, 0x1.9335e5d594p-4, 0x1.b6ac88dad4p-4, 0x1.da72763844p-4, 0x1.ec739830ap-4,
    0x1.08598b59e4p-3, 0x1.1178e8227ep-3, 0x1.23d712a49cp-3, 0x1.2d1610c868p-3, 0x1.3fb45a5992p-3, 0x1.4913d8333cp-3,
    0x1.5bf406b544p-3, 0x1.6574ebe8c2p-3, 0x1.7898d85444p-3, 0x1.823c16551ap-3, 0x1.8beafeb39p-3, 0x1.9f6c40708ap-3,
    0x1.a93ed3c8aep-3, 0x1.b31d8575bcp-3, 0x1.c6ffbc6fp-3, 0x1.d1037f2656p-3, 0x1.db13db0d48p-3, 0x1.e530effe72p-3,
    0x1.f991c6cb3cp-3, 0x1.01eae5626cp-2, 0x1.07138604d6p-2, 0x1.0c42d67616p-2, 0x1.1178e8227ep-2, 0x1.1bf99635a7p-2,
    0x1.214456d0ecp-2, 0x1.269621134ep-2, 0x1.2bef07cdc9p-2, 0x1.314f1e1d36p-2, 0x1.36b6776be1p-2, 0x1.3c25277333p-2,
    0x1.419b423d5fp-2, 0x1.4718dc271cp-2, 0x1.4c9e09e173p-2,
};
inline constexpr double kLogTableLo[] = {
    -0x1.a7389314feb5p-52, -0x1.e38c139318d71p-46, -0x1.2bb110af84054p-44, -0x1.e54bdbd7c8a98p-44,
    0x1.8d6bdc9c7c238p-44, 0x1.64ead9524d7cap-44, 0x1.f4bd8db0a7cc1p-44, 0x1.d7c92cd9ad824p-44,
    0x1.3d82f484c84ccp-46, -0x1.f8ef43049f7d3p-44, -0x1.7a71cbcd735dp-44, 0x1.5594dd4c58092p-45,
    0x1.67b1e99b72bd8p-45, -0x1.a8d7ad24c13fp-44, 0x1.a6976f5eb0963p-44, 0x1.81410e5c62affp-44,
    -0x1.8380e731f55c4p-44, -0x1.8380e731f55c4p-44, 0x1.4ab9d817d52cdp-44, -0x1.c6bee7ef4030ep-47,
    -0x1.036b89ef42d7fp-48, 0x1.d572aab993c87p-47, 0x1.b26b79c86af24p-45, 0x1.b26b79c86af24p-45,
    0x1.a342c2af0003cp-44, 0x1.1ba91bbca681bp-45, 0x1.7794f689f8434p-45, -0x1.9ac53f39d121cp-44,
    -0x1.9ac53f39d121cp-44, 0x1.a4e633fcd9066p-52, 0x1.539cd91dc9f0bp-44, 0x1.297137d9f158fp-44,
    0x1.297137d9f158fp-44, -0x1.22120401202fcp-44, 0x1.bdb9072534a58p-45, 0x1.bc6e557134767p-44,
    0x1.bc6e557134767p-44, 0x1.8586f183bebf2p-44, 0x1.790ba37fc5238p-44, 0x1.790ba37fc5238p-44,
    0x1.70cc16135783cp-46, -0x1.ee8779b2d8abcp-44, -0x1.ee8779b2d8abcp-44, 0x1.5b967f4471dfcp-44,
    -0x1.e80a41811a396p-45, -0x1.e80a41811a396p-45, -0x1.cb2cd2ee2f482p-44, 0x1.54555d1ae6607p-44,
    0x1.54555d1ae6607p-44, 0x1.a342c2af0003cp-45, -0x1.d0c57585fbe06p-46, -0x1.d0c57585fbe06p-46,
    -0x1.563650bd22a9cp-44, -0x1.563650bd22a9cp-44, -0x1.b20f5acb42a66p-44, 0x1.4b4641b664613p-44,
    0x1.4b4641b664613p-44, -0x1.83f69278e686ap-44, -0x1.83f69278e686ap-44, -0x1.1d0929983761p-44,
    0x1.47c5e768fa309p-46, 0x1.47c5e768fa309p-46, 0x1.d599e83368e91p-45, 0x1.d599e83368e91p-45,
    0x1.c827ae5d6704cp-46, 0x1.c827ae5d6704cp-46, 0x1.181dce586af09p-44, -0x1.eafd480ad9015p-44,
    -0x1.eafd480ad9015p-44, -0x1.980267c7e09e4p-45, -0x1.980267c7e09e4p-45, 0x1.3b955b602ace4p-44,
    0x1.3b955b602ace4p-44, -0x1.f1e7cf6d3a69cp-50, -0x1.f1e7cf6d3a69cp-50, -0x1.9e23f0dda40e4p-46,
    -0x1.9e23f0dda40e4p-46, 0x0p+0, 0x0p+0, 0x1.4554412c584ep-44, 0x1.98139928637fep-47, -0x1.5439ce030a687p-44,
    0x1.83e9ae021b67bp-45, 0x1.dac20827cca0cp-44, 0x1.9a19a8be97661p-44, 0x1.965c36e09f5fep-44,
    -0x1.7e5dd7009902cp-46, 0x1.7a48ba8b1cb41p-44, -0x1.19bd0ad125895p-44, 0x1.1cb7ce1d17171p-44,
    -0x1.c0fe460d20041p-44, 0x1.3115c3abd47dap-45, 0x1.b1bdff50225c7p-44, 0x1.a89401fa71733p-46,
    0x1.11fcba80cdd1p-44, -0x1.7e5dd7009902cp-45, 0x1.1ef78ce2d07f2p-45, 0x1.00d238fd3df5cp-46,
    0x1.39d6ccb81b4a1p-47, 0x1.19713c0cae559p-44, -0x1.53e43558124c4p-44, -0x1.27023eb68981cp-46,
    -0x1.98c1d34f0f462p-44, 0x1.8e67be3dbaf3fp-44, 0x1.e0ddb9a631e83p-46, -0x1.73d54aae92cd1p-47,
    -0x1.337d94bcd3f43p-44, -0x1.8724350562169p-45, 0x1.c794e562a63cbp-44, 0x1.ee138d3a69d43p-44,
    -0x1.84a7e75b6f6e4p-47, 0x1.2806a847527e6p-44, -0x1.fdbdbb13f7c18p-44, -0x1.90d04cd7cc834p-44,
    0x1.a43dcfade85aep-44, -0x1.e76324e912b17p-44, 0x1.7188b163ceae9p-45, 0x1.1ef78ce2d07f2p-44,
    -0x1.1ac89575c2125p-44, -0x1.caf0428b728a3p-44, -0x1.1b61f10522625p-44, 0x1.a9cfa4a5004f4p-45,
    -0x1.8e27ad3213cb8p-45, 0x1.16ecdb0f177c8p-46, 0x1.83b54b606bd5cp-46, -0x1.ce379226de3ecp-44,
    0x1.06c18fb4c14c5p-44, -0x1.e20891b0ad8a4p-45,
};

}  // namespace lucid::loop::math
