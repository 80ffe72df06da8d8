# cmake -DFILE=… -DDIGEST=… -P sha256_base64.cmake: writes FILE's SHA-256 as base64, the form a
# Content-Security-Policy takes, to DIGEST.
file(SHA256 "${FILE}" hex)
set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
set(base64 "")
# 64 hexadecimal digits are 21 groups of 3 digits (12 bits, 2 characters) … and one digit over, to
# which 2 zero bits and one "=" belong.
foreach(start RANGE 0 60 3)
  string(SUBSTRING "${hex}" ${start} 3 digits)
  math(EXPR high "0x${digits} >> 6")
  math(EXPR low "0x${digits} & 63")
  string(SUBSTRING "${alphabet}" ${high} 1 first)
  string(SUBSTRING "${alphabet}" ${low} 1 second)
  string(APPEND base64 "${first}${second}")
endforeach()
string(SUBSTRING "${hex}" 63 1 digit)
math(EXPR last "0x${digit} << 2")
string(SUBSTRING "${alphabet}" ${last} 1 character)
file(WRITE "${DIGEST}" "${base64}${character}=")
